import { describe, expect, it } from '@jest/globals'
import type { Link } from '../../../../../shared/bus/kafka/cluster/link.ts'
import { createLinkCache } from '../../../../../shared/bus/kafka/cluster/link-cache.ts'

const node = { host: 'a', port: 1 }

function opener() {
  const openings: ReturnType<typeof Promise.withResolvers<Link>>[] = []
  const open = () => {
    const opening = Promise.withResolvers<Link>()
    openings.push(opening)
    return opening.promise
  }
  return { openings, links: createLinkCache(open) }
}

function link(): Link {
  let isOpen = true
  return {
    node,
    get isOpen() {
      return isOpen
    },
    request: () => Promise.reject(new Error('nobody asks')),
    close() {
      isOpen = false
    },
  }
}

describe('a link to a broker', () => {
  it('is opened once for all callers and cached', async () => {
    const { openings, links } = opener()
    const opening = [links.get(node), links.get(node)]
    const opened = link()
    openings[0]?.resolve(opened)
    expect(await Promise.all([...opening, links.get(node)])).toEqual([opened, opened, opened])
    expect(openings).toHaveLength(1)
  })

  it('is opened again after it closed or failed to open', async () => {
    const { openings, links } = opener()
    const failing = links.get(node)
    openings[0]?.reject(new Error('away'))
    await expect(failing).rejects.toThrow('away')
    const first = link()
    const second = links.get(node)
    openings[1]?.resolve(first)
    expect(await second).toBe(first)
    first.close()
    const third = links.get(node)
    const other = link()
    openings[2]?.resolve(other)
    expect(await third).toBe(other)
  })

  it('is closed with the cache, also while it opens', async () => {
    const { openings, links } = opener()
    const opened = link()
    const opening = links.get(node)
    links.close()
    openings[0]?.resolve(opened)
    await opening
    expect(opened.isOpen).toBe(false)
  })
})
