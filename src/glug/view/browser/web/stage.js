// The three-dimensional picture: liquid, particles, solids, slice. Draws only when something has changed.

import {
  Box3, BoxGeometry, BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, EdgesGeometry, Group, LineBasicMaterial,
  LineSegments, Matrix4, Mesh, MeshBasicMaterial, NearestFilter, NeutralToneMapping, OrbitControls, PerspectiveCamera, Points,
  RGBAFormat, Scene, ShaderMaterial, SRGBColorSpace, Vector2, Vector3, Vector4, WebGLRenderer,
} from "./vendor/three.js";
import { Liquid } from "./liquid.js";
import { Shadow } from "./shadow.js";
import { backdrop, FINISH, floor, STUDIO } from "./studio.js";

const SETTLE = 350; // ms between looks whether things rest; at the second, software draws finely
const SEE_THROUGH = 0.3; // how much of the surface remains where particles are shown in it

export class Stage {
  constructor(canvas) {
    this.software = software();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.setClearColor(0x000000, 0);
    this.scene = new Scene();
    this.world = new Group(); // metres, scaled so that the domain is about one unit large
    this.liquid = new Liquid();
    this.shadow = new Shadow();
    this.floor = floor(this.shadow.light.texture, this.shadow.matrix);
    this.points = new Points(new BufferGeometry(), pointMaterial());
    this.plane = new Mesh(new BufferGeometry(), new MeshBasicMaterial({ side: DoubleSide, alphaTest: 0.5, toneMapped: false }));
    for (const part of [this.points, this.plane]) part.visible = part.frustumCulled = false;
    this.world.add(this.liquid.veil, this.liquid.mesh, this.points, this.plane);
    this.backdrop = backdrop();
    this.scene.add(this.backdrop, this.floor, this.world);
    this.camera = new PerspectiveCamera(30, 1, 0.01, 200);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.redraw());
    this.covered = [0, 0]; // pixels on the right and at the bottom that the panel and the timeline hide
    this.solids = [];
    this.expecting = false; // a frame is on its way
    this.warm();
  }

  // Have the first picture's shaders made while the run is being asked for.
  warm() {
    this.renderer.debug.checkShaderErrors = location.hash === "#debug";
    this.liquid.sums.add(this.liquid.sum);
    for (const mesh of [this.liquid.mesh, this.liquid.sum]) mesh.visible = true;
    this.renderer.compile(this.scene, this.camera);
    this.renderer.setRenderTarget(this.liquid.depth);
    this.renderer.compile(this.liquid.sums, this.camera);
    this.renderer.setRenderTarget(null);
    for (const mesh of [this.liquid.mesh, this.liquid.sum]) mesh.visible = false;
  }

  // Once the scene is known.
  set(run) {
    this.run = run;
    const extent = run.upper.map((x, a) => x - run.lower[a]);
    const middle = run.upper.map((x, a) => (x + run.lower[a]) / 2);
    this.unit = 1 / Math.max(...extent);
    // The same place and scale for all that is drawn of the run; the floor is at height 0.
    const place = new Matrix4().makeScale(this.unit, this.unit, this.unit)
      .setPosition(-middle[0] * this.unit, -run.lower[1] * this.unit, -middle[2] * this.unit);
    this.place = place;
    for (const group of [this.world, this.liquid.sums, this.shadow.scene]) {
      group.matrixAutoUpdate = false;
      group.matrix.copy(place);
      group.matrixWorldNeedsUpdate = true;
    }
    this.liquid.look(run.liquids[0]);
    this.floor.visible = run.floor && run.dim === 3;
    this.shadow.look(this.liquid.absorption, 0.62 - 0.25 * run.liquids[0].clarity);
    this.box?.removeFromParent();
    this.box = new LineSegments(new EdgesGeometry(new BoxGeometry(...extent)), new LineBasicMaterial({ color: "#8d9096" }));
    this.box.position.set(...middle);
    this.box.visible = false;
    this.world.add(this.box);
    this.points.material.uniforms.radius.value = 0.3 * run.dx * this.unit;
    this.resize();
    this.resetView();
  }

  showSurface(packet, colours) {
    const geometry = new BufferGeometry();
    if (packet) {
      geometry.setAttribute("position", new BufferAttribute(packet.arrays.position, 3));
      geometry.setAttribute("normal", new BufferAttribute(packet.normal, 3));
      geometry.setIndex(new BufferAttribute(packet.arrays.triangle, 1));
      if (colours) geometry.setAttribute("color", new BufferAttribute(colours, 3, true));
    }
    this.filled = true;
    this.liquid.show(geometry, Boolean(colours));
    this.shadow.changed = true;
    this.redraw();
  }

  showParticles(packet, colours) {
    const geometry = new BufferGeometry();
    if (packet) {
      geometry.setAttribute("position", new BufferAttribute(packet.arrays.position, 3));
      geometry.setAttribute("tint", new BufferAttribute(colours, 3, true));
    }
    this.replace(this.points, geometry, Boolean(packet));
  }

  showSlice(packet, colours, open) {
    this.sliced = packet && { ...packet, open };
    if (!packet) {
      this.plane.visible = false;
      return this.redraw();
    }
    const [a, b] = [0, 1, 2].filter((axis) => axis !== packet.axis);
    const [na, nb] = packet.arrays.value.shape;
    const corners = [[0, 0], [na, 0], [na, nb], [0, nb]].flatMap(([i, j]) => {
      const point = [...packet.corner];
      point[a] += i * packet.dx;
      point[b] += j * packet.dx;
      return point;
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(corners), 3));
    // Values run fastest along b.
    geometry.setAttribute("uv", new BufferAttribute(new Float32Array([0, 0, 0, 1, 1, 1, 1, 0]), 2));
    geometry.setIndex([0, 1, 2, 0, 2, 3]);
    this.plane.material.map?.dispose();
    const texture = new DataTexture(colours, nb, na, RGBAFormat);
    texture.magFilter = texture.minFilter = NearestFilter;
    texture.colorSpace = SRGBColorSpace;
    texture.needsUpdate = true;
    this.plane.material.map = texture;
    this.plane.material.needsUpdate = true;
    return this.replace(this.plane, geometry, true);
  }

  replace(part, geometry, visible) {
    part.geometry.dispose();
    part.geometry = geometry;
    part.visible = visible;
    this.redraw();
  }

  showSolid(number, packet) {
    const before = this.solids[number];
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(packet.arrays.position, 3));
    geometry.setAttribute("normal", new BufferAttribute(packet.normal, 3));
    geometry.setIndex(new BufferAttribute(packet.arrays.triangle, 1));
    const corners = packet.arrays.triangle.length <= 36; // a box: one normal per side
    const solid = new Mesh(corners ? faceted(geometry) : geometry, solidMaterial(this.run.solids[number]));
    solid.matrixAutoUpdate = solid.frustumCulled = false;
    if (before) solid.matrix.copy(before.matrix);
    solid.twin = this.shadow.stand(solid);
    before?.twin.removeFromParent();
    before?.removeFromParent();
    before?.geometry.dispose();
    this.solids[number] = solid;
    this.world.add(solid);
    this.shadow.scene.add(solid.twin);
    this.showSolids(this.solidsShown ?? true);
  }

  poseSolids(bodies) {
    for (const { name, rotation: R, translation: x } of bodies) {
      const solid = this.solids[this.run.solids.findIndex((s) => s.name === name)];
      if (!solid) continue;
      solid.matrix.set(...R[0], x[0], ...R[1], x[1], ...R[2], x[2], 0, 0, 0, 1);
      solid.matrixWorldNeedsUpdate = solid.twin.matrixWorldNeedsUpdate = true;
    }
    this.shadow.changed = true;
  }

  showSolids(visible) {
    this.solidsShown = visible;
    for (const solid of this.solids) if (solid) solid.visible = solid.twin.visible = visible;
    this.shadow.changed = true;
    this.redraw();
  }

  resetView() {
    const { eye, target, up, fov, aspect } = this.run.camera;
    const [width, height] = this.free();
    this.camera.fov = fov;
    this.camera.updateProjectionMatrix();
    this.camera.up.set(...up);
    const at = this.toStage(target);
    const away = this.toStage(eye).sub(at).multiplyScalar(Math.max(1, (aspect * height) / width)); // narrow windows: farther
    this.look(at.clone().add(away), at);
  }

  // The liquid (or the domain) as large as fits, from where one looks now; flat scenes from the front.
  fit() {
    const box = new Box3();
    for (const { visible, geometry } of [this.liquid.mesh, this.points]) {
      if (visible) box.union(new Box3().setFromBufferAttribute(geometry.attributes.position));
    }
    if (box.isEmpty()) box.set(new Vector3(...this.run.lower), new Vector3(...this.run.upper));
    const centre = this.toStage(box.getCenter(new Vector3()).toArray());
    const radius = 0.5 * box.getSize(new Vector3()).length() * this.unit;
    const [width, height] = this.free();
    const slope = Math.tan((this.camera.fov * Math.PI) / 360) * Math.min(1, width / height);
    const away = this.run.dim === 2 ? new Vector3(0, 0, 1) : this.camera.position.clone().sub(this.controls.target).normalize();
    this.look(centre.clone().addScaledVector(away, (1.1 * radius) / slope), centre);
  }

  look(eye, target) {
    this.camera.position.copy(eye);
    this.controls.target.copy(target);
    const distance = eye.distanceTo(target);
    this.controls.minDistance = 0.02 * distance;
    this.controls.maxDistance = Math.min(50, 12 * distance);
    this.controls.update();
    this.redraw();
  }

  toStage(point) {
    return new Vector3(...point).applyMatrix4(this.place);
  }

  // Width and height of what is not hidden.
  free() {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    return [Math.max(100, width - this.covered[0]), Math.max(100, height - this.covered[1])];
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.renderer.domElement;
    const [freeWidth, freeHeight] = this.free();
    this.renderer.setPixelRatio(this.software ? (this.settled ? 1.6 : 0.7) : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    // The camera's picture fills what is free, and goes on behind the panels.
    this.camera.aspect = freeWidth / freeHeight;
    this.camera.setViewOffset(freeWidth, freeHeight, 0, 0, width, height);
    const size = this.renderer.getDrawingBufferSize(new Vector2());
    this.liquid.resize(size.x, size.y);
  }

  redraw() {
    if (this.software) this.settleLater();
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.draw());
  }

  // Without a graphics card: coarse and with the shadow of before while things change, fine once they rest.
  settleLater() {
    if (this.settled) {
      this.settled = false;
      this.resize();
    }
    clearTimeout(this.timer);
    let rested = false; // a picture takes as long as it takes: its end is looked for
    const look = () => {
      const busy = this.expecting || this.drawing();
      if (rested && !busy) return this.settle();
      rested = !busy;
      this.timer = setTimeout(look, SETTLE);
    };
    this.timer = setTimeout(look, SETTLE);
  }

  // Whether a picture is ordered and not done; known without a graphics card only, where it takes long.
  drawing() {
    const gl = this.renderer.getContext();
    return this.asked || (this.fence && gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED);
  }

  settle() {
    this.settled = true;
    this.resize();
    this.draw();
  }

  draw() {
    this.asked = false;
    if (!this.filled) return;
    const { renderer, camera, liquid } = this;
    this.backdrop.position.copy(camera.position);
    this.points.material.uniforms.pixels.value = (this.free()[1] * renderer.getPixelRatio()) / (2 * Math.tan((camera.fov * Math.PI) / 360));
    liquid.cover(this.points.visible ? SEE_THROUGH : 1, this.solids.some((solid) => solid?.visible));
    liquid.clip(null);
    if (this.floor.visible && (!this.software || this.settled || !this.shadowed)) this.shadow.draw(renderer, liquid);
    this.shadowed = true;
    if (this.sliced?.open) liquid.clip(this.cutAway());
    liquid.measure(renderer, camera, this.controls.target);
    renderer.render(this.scene, camera);
    if (this.software) this.mark();
    this.onDrawn?.();
  }

  // Ask to be told when the picture is done, which may be long after it was ordered.
  mark() {
    const gl = this.renderer.getContext();
    if (this.fence) gl.deleteSync(this.fence);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }

  // A plane in front of which the liquid is left out: between the slice and the camera.
  cutAway() {
    const at = this.toStage(this.sliced.corner);
    const normal = new Vector3().setComponent(this.sliced.axis, 1);
    if (this.camera.position.clone().sub(at).dot(normal) < 0) normal.negate();
    return new Vector4(normal.x, normal.y, normal.z, normal.dot(at) - 1e-3);
  }
}

// Whether the browser draws without a graphics card.
function software() {
  const gl = new OffscreenCanvas(1, 1).getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

// Every triangle with corners of its own.
function faceted(geometry) {
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function solidMaterial({ colour: [r, g, b], clarity }) {
  const opacity = 1 - 0.8 * clarity;
  return new ShaderMaterial({
    side: DoubleSide, transparent: opacity < 1, depthWrite: opacity === 1,
    uniforms: { tint: { value: new Color(r, g, b).convertSRGBToLinear() }, opacity: { value: opacity } },
    vertexShader: `varying vec3 n, world;
      void main() {
        n = mat3(modelMatrix) * normal;
        vec4 at = modelMatrix * vec4(position, 1.0);
        world = at.xyz;
        gl_Position = projectionMatrix * viewMatrix * at;
      }`,
    fragmentShader: `${STUDIO} varying vec3 n, world; uniform vec3 tint; uniform float opacity;
      void main() {
        vec3 sight = normalize(world - cameraPosition), m = normalize(n);
        if (dot(m, sight) > 0.0) m = -m;
        float fresnel = 0.03 + 0.35 * pow(1.0 - clamp(-dot(sight, m), 0.0, 1.0), 5.0);
        gl_FragColor = vec4(mix(tint * daylight(m) * 0.95, backdrop(reflect(sight, m)), fresnel), mix(opacity, 1.0, fresnel));
        ${FINISH}
      }`,
  });
}

// Small lit balls.
function pointMaterial() {
  return new ShaderMaterial({
    uniforms: { radius: { value: 0.01 }, pixels: { value: 500 } },
    vertexShader: `attribute vec3 tint; varying vec3 colour; uniform float radius, pixels;
      void main() {
        colour = tint;
        vec4 at = modelViewMatrix * vec4(position, 1.0);
        gl_Position = projectionMatrix * at;
        gl_PointSize = max(1.5, 2.0 * radius * pixels / -at.z);
      }`,
    fragmentShader: `varying vec3 colour;
      void main() {
        vec2 p = 2.0 * gl_PointCoord - 1.0;
        float r = dot(p, p);
        if (r > 1.0) discard;
        vec3 n = vec3(p.x, -p.y, sqrt(1.0 - r));
        float light = 0.62 + 0.38 * dot(n, normalize(vec3(-0.45, 0.75, 0.5)));
        gl_FragColor = vec4(colour * light, 1.0);
      }`,
  });
}
