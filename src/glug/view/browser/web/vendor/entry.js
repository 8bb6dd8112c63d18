// What three.js holds: make viewer-libraries bundles it.
export {
  AddEquation, BackSide, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CircleGeometry, Color, CustomBlending, DataTexture,
  DoubleSide, EdgesGeometry, FrontSide, Group, HalfFloatType, LinearFilter, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial,
  NearestFilter, NeutralToneMapping, OneFactor, OrthographicCamera, PerspectiveCamera, PlaneGeometry, Points, RGBAFormat,
  Scene, ShaderMaterial, SphereGeometry, SrcColorFactor, SRGBColorSpace, Vector2, Vector3, Vector4, WebGLRenderer, WebGLRenderTarget,
  ZeroFactor,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { default as uPlot } from "uplot";
