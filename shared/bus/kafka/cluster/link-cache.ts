// One shared link to each broker for short requests. Callers share a link while it opens, and its
// failure: nobody would close a second one.

import type { Node } from '../driver.ts'
import type { Link } from './link.ts'

type Address = Pick<Node, 'host' | 'port'>

export type LinkCache<To extends Address> = {
  /** The open link, or a new one. */
  get(node: To): Promise<Link>
  close(): void
}

/** `link` is undefined until it is open. */
type Entry = { opening: Promise<Link>; link: Link | undefined }

export function createLinkCache<To extends Address>(
  open: (node: To) => Promise<Link>,
): LinkCache<To> {
  const entries = new Map<string, Entry>()
  let isClosed = false

  return {
    get(node) {
      const address = `${node.host}:${node.port}`
      const known = entries.get(address)
      if (known !== undefined && known.link?.isOpen !== false) return known.opening
      const entry: Entry = { opening: open(node), link: undefined }
      entry.opening.then(
        (link) => {
          entry.link = link
          if (isClosed) link.close()
        },
        () => {
          if (entries.get(address) === entry) entries.delete(address)
        },
      )
      entries.set(address, entry)
      return entry.opening
    },

    close() {
      isClosed = true
      for (const { link } of entries.values()) link?.close()
    },
  }
}
