// Reads what glug.view.browser.packets writes: named arrays behind a JSON header.

const types = { f4: Float32Array, u4: Uint32Array, u1: Uint8Array };

export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = {};
  for (const { name, type, shape, offset } of header.arrays) {
    const count = shape.reduce((product, n) => product * n, 1);
    arrays[name] = new types[type](buffer, 4 + length + offset, count);
    arrays[name].shape = shape;
  }
  return { ...header, arrays };
}

// Area-weighted normals of a triangle mesh.
export function normals(position, triangle) {
  const out = new Float32Array(position.length);
  for (let t = 0; t < triangle.length; t += 3) {
    const a = 3 * triangle[t], b = 3 * triangle[t + 1], c = 3 * triangle[t + 2];
    const ux = position[b] - position[a], uy = position[b + 1] - position[a + 1], uz = position[b + 2] - position[a + 2];
    const vx = position[c] - position[a], vy = position[c + 1] - position[a + 1], vz = position[c + 2] - position[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx;
    out[a] += x; out[a + 1] += y; out[a + 2] += z;
    out[b] += x; out[b + 1] += y; out[b + 2] += z;
    out[c] += x; out[c + 1] += y; out[c + 2] += z;
  }
  for (let i = 0; i < out.length; i += 3) {
    const length = Math.sqrt(out[i] ** 2 + out[i + 1] ** 2 + out[i + 2] ** 2) || 1; // many times faster than hypot
    out[i] /= length; out[i + 1] /= length; out[i + 2] /= length;
  }
  return out;
}
