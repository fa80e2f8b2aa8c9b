// The menu of the site: the pages below "All pages" in docs/README.md, in this order.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Group = { text: string; items: { text: string; link: string }[] }

/** One group a folder of docs/. Each page has the text of its first heading. */
export function sidebar(root: string): Group[] {
  const textOf = (page: string) => readFileSync(join(root, 'docs', page), 'utf8')
  const [, index = ''] = textOf('README.md').split('## All pages')
  const pages = [...index.matchAll(/\]\(([a-z]+\/[\w-]+\.md)\)/g)].map(([, page = '']) => page)
  const groups = Map.groupBy(new Set(pages), (page) => page.split('/')[0] ?? '')
  return [...groups].map(([folder, members]) => ({
    text: `${folder[0]?.toUpperCase()}${folder.slice(1)}`,
    items: members.map((page) => ({
      text: /^# (.+)$/m.exec(textOf(page))?.[1] ?? page,
      link: `/docs/${page.replace(/\.md$/, '')}`,
    })),
  }))
}
