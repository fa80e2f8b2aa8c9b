// Images for tests: bytes that begin as a PNG.

/** `bytes`: its size, at least 9. `seed`: makes another image. */
export function png(bytes = 64, seed = 0): Uint8Array {
  const image = Buffer.alloc(bytes, seed)
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').copy(image)
  return image
}
