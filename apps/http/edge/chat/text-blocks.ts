// The streamed texts and thoughts of a turn as blocks: one is open at a time, and ids are counted.

export type Block = { kind: 'text' | 'reasoning'; id: string }

/** The chunks of a block in one protocol. */
export type BlockChunks<Chunk> = {
  start(block: Block): Chunk[]
  delta(block: Block, text: string): Chunk
  end(block: Block): Chunk[]
}

export function createTextBlocks<Chunk>({ start, delta, end }: BlockChunks<Chunk>) {
  let open: Block | undefined
  let texts: string[] = []
  let count = 0

  function close(): Chunk[] {
    const closed = open
    open = undefined
    return closed === undefined ? [] : end(closed)
  }

  return {
    add(kind: Block['kind'], turn: number, text: string): Chunk[] {
      if (open?.kind === kind) return [delta(open, text)]
      const before = close()
      count += 1
      open = { kind, id: `${kind}-${turn}-${count}` }
      if (kind === 'text') texts.push(open.id)
      return [...before, ...start(open), delta(open, text)]
    },
    close,
    /** The ids of the round's texts. */
    texts: () => texts,
    beginRound() {
      texts = []
    },
    /** Without its end: the client drops the block, or has its end already. */
    drop() {
      open = undefined
    },
  }
}
