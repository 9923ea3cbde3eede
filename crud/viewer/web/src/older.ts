// What pdf.js takes for granted, and browsers of the years before lack, down to the oldest ones
// that build.mjs names. Its builds for older browsers have the rest. build.mjs puts this before the
// worker of pdf.js, too.
interface Bytes {
  bytes(): Promise<Uint8Array>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

const add = (to: object, name: string, value: unknown): void => {
  if (!(name in to)) Object.defineProperty(to, name, { value, configurable: true, writable: true });
};

add(Promise, "withResolvers", function withResolvers(this: PromiseConstructor) {
  let resolve, reject;
  const promise = new this((...both) => ([resolve, reject] = both));
  return { promise, resolve, reject };
});
for (const of of [Response, Blob]) {
  add(of.prototype, "bytes", async function bytes(this: Bytes) {
    return new Uint8Array(await this.arrayBuffer());
  });
}
add(ArrayBuffer.prototype, "transferToFixedLength", function transferToFixedLength(this: ArrayBuffer, length = this.byteLength) {
  const copy = new ArrayBuffer(length);
  new Uint8Array(copy).set(new Uint8Array(this, 0, Math.min(length, this.byteLength)));
  return copy;
});
add(AbortSignal, "any", (signals: AbortSignal[]) => {
  const all = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) all.abort(signal.reason);
    else signal.addEventListener("abort", () => all.abort(signal.reason), { signal: all.signal });
  }
  return all.signal;
});

export {};
