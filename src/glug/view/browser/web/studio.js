// The room that liquids are looked at in. Its light is a formula, so that a mirror image costs no texture: a pale
// backdrop, a large window high on the left, a strip on the right and a lamp behind.

import { BackSide, CircleGeometry, Color, CustomBlending, Mesh, ShaderMaterial, SphereGeometry, SrcColorFactor, Vector3, ZeroFactor } from "./vendor/three.js";

const colour = (text) => {
  const c = new Color(text);
  return `vec3(${[c.r, c.g, c.b].map((x) => x.toFixed(4)).join(", ")})`;
};

// studio(d): radiance from direction d. daylight(n): light on a matt surface with normal n.
export const STUDIO = `
  vec3 backdrop(vec3 d) {
    return d.y > 0.0 ? mix(${colour("#f3f2f0")}, ${colour("#d3d7da")}, smoothstep(0.0, 0.8, d.y))
                     : mix(${colour("#f3f2f0")}, ${colour("#e3e1de")}, smoothstep(0.0, 0.3, -d.y));
  }
  float lamp(vec3 d, vec3 from, vec2 size, float blur) {
    float ahead = dot(d, from);
    if (ahead <= 0.05) return 0.0;
    vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), from));
    vec2 p = abs(vec2(dot(d, right), dot(d, cross(from, right)))) / ahead;
    vec2 inside = 1.0 - smoothstep(size - blur, size + blur, p);
    return inside.x * inside.y;
  }
  vec3 studio(vec3 d) {
    return backdrop(d)
      + vec3(26.0, 25.5, 24.5) * lamp(d, normalize(vec3(-0.72, 0.62, 0.42)), vec2(0.30, 0.26), 0.10)
      + vec3(11.0, 11.0, 11.2) * lamp(d, normalize(vec3(0.93, 0.30, 0.20)), vec2(0.09, 0.50), 0.07)
      + vec3(5.0, 4.9, 4.7) * lamp(d, normalize(vec3(0.15, 0.55, -0.85)), vec2(0.55, 0.16), 0.08);
  }
  vec3 daylight(vec3 n) {
    float key = 0.5 + 0.5 * dot(n, normalize(vec3(-0.6, 0.72, 0.42)));
    float sky = 0.5 + 0.5 * n.y;
    return vec3(0.30, 0.31, 0.33) + vec3(0.28, 0.28, 0.27) * sky + vec3(0.62, 0.59, 0.54) * key * key;
  }`;

// Light comes from here on its way to the floor, a little steeper than the window stands: shadows stay near.
export const LIGHT = new Vector3(-0.62, 1.25, 0.42).normalize();

export const FINISH = "#include <tonemapping_fragment>\n#include <colorspace_fragment>";

export function backdrop() {
  const material = new ShaderMaterial({
    side: BackSide, depthWrite: false, depthTest: false,
    vertexShader: "varying vec3 at; void main() { at = position; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: `${STUDIO} varying vec3 at;
      void main() {
        gl_FragColor = vec4(backdrop(normalize(at)), 1.0);
        ${FINISH}
        gl_FragColor.rgb += (fract(52.9829 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584)))) - 0.5) / 255.0; // hides bands (Jimenez 2014)
      }`,
  });
  const sphere = new Mesh(new SphereGeometry(60, 24, 12), material);
  sphere.frustumCulled = false;
  sphere.renderOrder = -2;
  return sphere;
}

// Darkens and tints the backdrop by `shadow`, the light that is left, seen along the light through `toLight`.
export function floor(shadow, toLight) {
  const material = new ShaderMaterial({
    transparent: true, depthWrite: false, blending: CustomBlending, blendSrc: ZeroFactor, blendDst: SrcColorFactor,
    uniforms: { shadow: { value: shadow }, toLight: { value: toLight } },
    vertexShader: `varying vec2 seen; uniform mat4 toLight;
      void main() {
        vec4 at = modelMatrix * vec4(position, 1.0);
        seen = 0.5 * (toLight * at).xy + 0.5;
        gl_Position = projectionMatrix * viewMatrix * at;
      }`,
    fragmentShader: "varying vec2 seen; uniform sampler2D shadow; void main() { gl_FragColor = vec4(texture2D(shadow, seen).rgb, 1.0); }",
  });
  const disc = new Mesh(new CircleGeometry(1.4, 48), material);
  disc.rotation.x = -Math.PI / 2;
  disc.renderOrder = -1;
  return disc;
}
