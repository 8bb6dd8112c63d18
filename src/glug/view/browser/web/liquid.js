// How a liquid looks: mirrored light by Fresnel's law, light from behind that Beer's law colours by the depth passed,
// and light scattered back. The depth comes from a pass that sums distances, back faces minus front faces.

import {
  AddEquation, BufferGeometry, Color, CustomBlending, DoubleSide, FrontSide, HalfFloatType, LinearFilter, Mesh, OneFactor,
  Scene, ShaderMaterial, Vector2, Vector3, Vector4, WebGLRenderTarget,
} from "./vendor/three.js";
import { FINISH, STUDIO } from "./studio.js";

const CLIP = `uniform vec4 clip; varying vec3 world;
  void clipped() { if (dot(clip.xyz, world) > clip.w) discard; }`;
const NO_CLIP = new Vector4(0, 0, 0, 1);

// Sums of distances along the line of sight: r of liquids, g of solids.
export function depthMaterial(solid) {
  return new ShaderMaterial({
    side: DoubleSide, depthTest: false, depthWrite: false, transparent: true,
    blending: CustomBlending, blendEquation: AddEquation, blendSrc: OneFactor, blendDst: OneFactor,
    uniforms: { middle: { value: 0 }, flat_: { value: 0 }, clip: { value: NO_CLIP } },
    vertexShader: `uniform float flat_; varying float far; varying vec3 world;
      void main() {
        vec4 w = modelMatrix * vec4(position, 1.0);
        world = w.xyz;
        vec4 at = viewMatrix * w;
        far = flat_ > 0.5 ? -at.z : length(at.xyz);
        gl_Position = projectionMatrix * (viewMatrix * w);
      }`,
    fragmentShader: `uniform float middle; varying float far; ${CLIP}
      void main() {
        clipped();
        float d = (gl_FrontFacing ? -1.0 : 1.0) * (far - middle);
        gl_FragColor = ${solid ? "vec4(0.0, d, 0.0, 0.0)" : "vec4(d, 0.0, 0.0, 0.0)"};
      }`,
  });
}

export function depthTarget(width, height) {
  return new WebGLRenderTarget(width, height, { type: HalfFloatType, depthBuffer: false, minFilter: LinearFilter, magFilter: LinearFilter });
}

function liquidMaterial(depth) {
  return new ShaderMaterial({
    transparent: true,
    defines: {},
    uniforms: {
      depth: { value: depth.texture }, size: { value: new Vector2(1, 1) }, absorption: { value: new Vector3() }, tint: { value: new Color() },
      scattering: { value: 1 }, deepest: { value: 0.2 }, cover: { value: 1 }, see: { value: 0 }, clip: { value: NO_CLIP },
    },
    vertexShader: `varying vec3 world, n;
      #ifdef PAINTED
      attribute vec3 color; varying vec3 paint;
      #endif
      void main() {
        vec4 at = modelMatrix * vec4(position, 1.0);
        world = at.xyz;
        n = normal;
        #ifdef PAINTED
        paint = color;
        #endif
        gl_Position = projectionMatrix * (viewMatrix * at); // to the bit as in depthMaterial, which draws the veil
      }`,
    fragmentShader: `${STUDIO} ${CLIP}
      varying vec3 n; uniform sampler2D depth; uniform vec2 size; uniform vec3 absorption, tint; uniform float scattering, deepest, cover, see;
      #ifdef PAINTED
      varying vec3 paint;
      #endif
      void main() {
        clipped();
        vec3 sight = normalize(world - cameraPosition), m = normalize(n);
        if (!gl_FrontFacing) m = -m;
        float facing = clamp(-dot(sight, m), 0.0, 1.0);
        float fresnel = 0.028 + 0.972 * pow(1.0 - facing, 5.0);
        vec3 mirrored = studio(reflect(sight, m));
        #ifdef PAINTED
        vec3 colour = pow(paint, vec3(2.2)) * daylight(m) * 0.92;
        float alpha = cover;
        fresnel *= 0.4; // colours are to be read
        #else
        // The chord of the bent ray: as long as in a ball of this depth.
        float bent = sqrt(1.0 - (1.0 - facing * facing) * 0.51);
        float passed = max(texture2D(depth, gl_FragCoord.xy / size).r, 0.0) * bent / max(facing, 0.2);
        float thick = deepest * (1.0 - exp(-passed / deepest)); // light finds its way around: no liquid is black
        float clear = exp(-scattering * thick);
        vec3 through = exp(-absorption * thick) * clear;
        vec3 d = normalize(2.0 * refract(sight, m, 0.714) - sight); // bent on its way in and out
        vec3 colour = through * backdrop(d) * 1.04 + tint * daylight(m) * (1.0 - clear);
        float alpha = mix(1.0, 1.0 - dot(through, vec3(0.25)), see) * cover;
        #endif
        gl_FragColor = vec4(mix(colour, mirrored, fresnel), mix(alpha, 1.0, fresnel));
        ${FINISH}
      }`,
  });
}

export class Liquid {
  constructor() {
    this.depth = depthTarget(64, 64);
    this.mesh = new Mesh(new BufferGeometry(), liquidMaterial(this.depth));
    this.veil = new Mesh(this.mesh.geometry, depthMaterial(false)); // hides far layers behind near ones
    Object.assign(this.veil.material, { colorWrite: false, depthTest: true, depthWrite: true });
    this.veil.renderOrder = 1;
    this.mesh.renderOrder = 2;
    this.sum = new Mesh(this.mesh.geometry, depthMaterial(false));
    this.sums = new Scene();
    for (const mesh of [this.mesh, this.veil, this.sum]) mesh.frustumCulled = mesh.visible = false;
  }

  // Clearer liquids must be deeper to show their colour: as in glug.view.picture.
  look({ colour, clarity }) {
    const tint = new Color(...colour).convertSRGBToLinear();
    const depth = 0.06 + 0.5 * clarity ** 6;
    const u = this.mesh.material.uniforms;
    u.tint.value = tint;
    u.absorption.value.set(...[tint.r, tint.g, tint.b].map((c) => -Math.log(Math.max(c, 1e-3)) / depth));
    u.scattering.value = (1 - clarity) ** 2 / Math.max(clarity, 0.02) / depth + 0.6;
    u.deepest.value = 1.6 * depth;
  }

  get absorption() {
    return this.mesh.material.uniforms.absorption.value;
  }

  show(geometry, painted) {
    this.mesh.geometry.dispose();
    for (const mesh of [this.mesh, this.veil, this.sum]) {
      mesh.geometry = geometry;
      mesh.visible = Boolean(geometry.index?.count);
    }
    if (painted !== "PAINTED" in this.mesh.material.defines) {
      this.mesh.material.defines = painted ? { PAINTED: 1 } : {};
      this.mesh.material.needsUpdate = true;
    }
  }

  // `cover` below 1 lets one see what is inside; `see` whether clear liquid shows what is behind it.
  cover(cover, see) {
    const u = this.mesh.material.uniforms;
    u.cover.value = cover;
    u.see.value = see ? 1 : 0;
    this.veil.visible = this.mesh.visible && (see || cover < 1);
  }

  clip(plane) {
    const value = plane ?? NO_CLIP;
    this.mesh.material.side = plane ? DoubleSide : FrontSide;
    for (const { material } of [this.mesh, this.veil, this.sum]) material.uniforms.clip.value = value;
  }

  resize(width, height) {
    this.depth.setSize(Math.ceil(width / 2), Math.ceil(height / 2));
    this.mesh.material.uniforms.size.value.set(width, height);
  }

  // Before the picture: the depth of liquid along every line of sight.
  measure(renderer, camera, target) {
    if (!this.sum.visible || "PAINTED" in this.mesh.material.defines) return;
    const u = this.sum.material.uniforms;
    u.middle.value = camera.position.distanceTo(target);
    u.flat_.value = 0;
    renderer.setRenderTarget(this.depth);
    renderer.clear();
    renderer.render(this.sums, camera);
    renderer.setRenderTarget(null);
  }
}
