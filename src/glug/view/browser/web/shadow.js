// The light that reaches the floor: coloured by the depth of liquid it has passed, less behind solids, and blurred.

import { Matrix4, Mesh, OrthographicCamera, PlaneGeometry, Scene, ShaderMaterial, Vector2, Vector3, WebGLRenderTarget } from "./vendor/three.js";
import { depthMaterial, depthTarget } from "./liquid.js";
import { LIGHT } from "./studio.js";

const SIZE = 256; // pixels
const REACH = 1.3; // of the picture that the light takes, from its middle
const FAR = 5;

export class Shadow {
  constructor() {
    this.depth = depthTarget(SIZE, SIZE);
    this.half = new WebGLRenderTarget(SIZE, SIZE, { depthBuffer: false });
    this.light = new WebGLRenderTarget(SIZE, SIZE, { depthBuffer: false });
    this.camera = new OrthographicCamera(-REACH, REACH, REACH, -REACH, 0.1, 12);
    this.camera.position.copy(LIGHT).multiplyScalar(FAR);
    this.camera.lookAt(0, 0, 0);
    this.camera.updateMatrixWorld();
    this.matrix = new Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    this.scene = new Scene();
    this.material = depthMaterial(true);
    this.across = blurMaterial(true, this.depth.texture, new Vector2(1 / SIZE, 0));
    this.along = blurMaterial(false, this.half.texture, new Vector2(0, 1 / SIZE));
    this.screen = new Scene();
    this.sheet = new Mesh(new PlaneGeometry(2, 2), this.across);
    this.sheet.frustumCulled = false;
    this.screen.add(this.sheet);
    this.changed = true;
  }

  // Light that passes a liquid of this absorption, and how dark its shadow may be.
  look(absorption, opacity) {
    this.across.uniforms.absorption.value.copy(absorption).addScalar(6);
    this.across.uniforms.opacity.value = opacity;
  }

  // Solids are drawn with a material of their own here.
  stand(solid) {
    const twin = new Mesh(solid.geometry, this.material);
    twin.matrixAutoUpdate = twin.frustumCulled = false;
    twin.matrix = solid.matrix;
    return twin;
  }

  draw(renderer, liquid) {
    if (!this.changed) return;
    this.changed = false;
    for (const { uniforms: u } of [liquid.sum.material, this.material]) {
      u.flat_.value = 1;
      u.middle.value = FAR;
    }
    renderer.setRenderTarget(this.depth);
    renderer.clear();
    renderer.autoClear = false;
    renderer.render(this.scene, this.camera);
    renderer.render(liquid.sums, this.camera);
    renderer.autoClear = true;
    for (const [material, target] of [[this.across, this.half], [this.along, this.light]]) {
      this.sheet.material = material;
      renderer.setRenderTarget(target);
      renderer.render(this.screen, this.camera);
    }
    renderer.setRenderTarget(null);
  }
}

// A Gaussian along one direction, as if the screen were the sheet; the first also turns depths into light.
function blurMaterial(first, source, step) {
  return new ShaderMaterial({
    depthTest: false, depthWrite: false,
    uniforms: { source: { value: source }, step_: { value: step }, absorption: { value: new Vector3() }, opacity: { value: 0.5 } },
    vertexShader: "varying vec2 at; void main() { at = 0.5 * position.xy + 0.5; gl_Position = vec4(position.xy, 0.0, 1.0); }",
    fragmentShader: `varying vec2 at; uniform sampler2D source; uniform vec2 step_; uniform vec3 absorption; uniform float opacity;
      vec3 light(vec2 uv) {
        ${first ? `vec2 depth = max(texture2D(source, uv).rg, 0.0);
        vec3 passed = exp(-absorption * depth.r);
        return mix(vec3(1.0), passed, opacity) * mix(vec3(1.0, 0.96, 0.88), vec3(1.0), passed.g) * mix(0.55, 1.0, exp(-60.0 * depth.g));` : "return texture2D(source, uv).rgb;"}
      }
      void main() {
        vec3 sum = vec3(0.0);
        float total = 0.0;
        for (int k = -4; k <= 4; k++) {
          float weight = exp(-0.16 * float(k * k));
          sum += weight * light(at + 1.4 * float(k) * step_);
          total += weight;
        }
        sum /= total;
        ${first ? "" : `vec2 edge = abs(2.0 * at - 1.0);
        sum = mix(pow(sum, vec3(1.0 / 2.2)), vec3(1.0), smoothstep(0.7, 0.98, max(edge.x, edge.y))); // as the screen has it`}
        gl_FragColor = vec4(sum, 1.0);
      }`,
  });
}
