// Packets by address: fetched when wanted, the least recently used dropped first.

import { normals, unpack } from "./packets.js";

const LIMIT = 384 * 2 ** 20; // bytes kept in the page

export async function ask(address) {
  let answer;
  try {
    answer = await fetch(address);
  } catch {
    throw new Error("the viewer has ended; start it again with glug view");
  }
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error ?? `${answer.status} ${answer.statusText}`);
}

export class Store {
  constructor() {
    this.kept = new Map(); // address -> packet, oldest use first
    this.coming = new Map(); // address -> promise
    this.size = 0;
  }

  has(address) {
    return this.kept.has(address);
  }

  get(address) {
    const packet = this.kept.get(address);
    if (packet) {
      this.kept.delete(address);
      this.kept.set(address, packet);
      return Promise.resolve(packet);
    }
    if (!this.coming.has(address)) {
      const promise = this.load(address).finally(() => this.coming.delete(address));
      promise.catch(() => {});
      this.coming.set(address, promise);
    }
    return this.coming.get(address);
  }

  async load(address) {
    const buffer = await (await ask(address)).arrayBuffer();
    const packet = unpack(buffer);
    packet.bytes = buffer.byteLength;
    if (packet.arrays.triangle) {
      packet.normal = normals(packet.arrays.position, packet.arrays.triangle);
      packet.bytes += packet.normal.byteLength;
    }
    this.kept.set(address, packet);
    this.size += packet.bytes;
    for (const [oldest, { bytes }] of this.kept) {
      if (this.size <= LIMIT || oldest === address) break;
      this.kept.delete(oldest);
      this.size -= bytes;
    }
    return packet;
  }

  clear() {
    this.kept.clear();
    this.size = 0;
  }
}
