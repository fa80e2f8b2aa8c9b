// One link to each broker, kept from question to question. Who asks while it is being opened shares
// it, and its failure: a second one nobody would close.

import type { Node } from './driver.ts'
import type { Link } from './link.ts'

type Address = Pick<Node, 'host' | 'port'>

export type KeptLinks<To extends Address> = {
  /** The open one, or a new one. */
  to(node: To): Promise<Link>
  close(): void
}

/** Undefined `link`: not open yet. */
type Kept = { opening: Promise<Link>; link: Link | undefined }

export function createKeptLinks<To extends Address>(
  open: (node: To) => Promise<Link>,
): KeptLinks<To> {
  const links = new Map<string, Kept>()
  let isClosed = false

  return {
    to(node) {
      const address = `${node.host}:${node.port}`
      const known = links.get(address)
      if (known !== undefined && known.link?.isOpen !== false) return known.opening
      const kept: Kept = { opening: open(node), link: undefined }
      kept.opening.then(
        (link) => {
          kept.link = link
          if (isClosed) link.close()
        },
        () => {
          if (links.get(address) === kept) links.delete(address)
        },
      )
      links.set(address, kept)
      return kept.opening
    },

    close() {
      isClosed = true
      for (const { link } of links.values()) link?.close()
    },
  }
}
