// The depth of liquid and solids along the light, for the floor.

import { Matrix4, Mesh, OrthographicCamera, Scene } from "./vendor/three.js";
import { depthMaterial, depthTarget } from "./liquid.js";
import { LIGHT } from "./studio.js";

const SIZE = 320; // pixels
const REACH = 1.3; // of the picture that the light takes, from its middle

export class Shadow {
  constructor() {
    this.target = depthTarget(SIZE, SIZE);
    this.camera = new OrthographicCamera(-REACH, REACH, REACH, -REACH, 0.1, 12);
    this.camera.position.copy(LIGHT).multiplyScalar(5);
    this.camera.lookAt(0, 0, 0);
    this.camera.updateMatrixWorld();
    this.matrix = new Matrix4().multiplyMatrices(this.camera.projectionMatrix, this.camera.matrixWorldInverse);
    this.scene = new Scene();
    this.material = depthMaterial(true);
    this.changed = true;
  }

  // Solids are drawn with their own material here.
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
      u.middle.value = 5;
    }
    renderer.setRenderTarget(this.target);
    renderer.clear();
    renderer.render(this.scene, this.camera);
    renderer.autoClear = false;
    renderer.render(liquid.sums, this.camera);
    renderer.autoClear = true;
    renderer.setRenderTarget(null);
  }
}
