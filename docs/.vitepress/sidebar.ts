// The pages of a folder, in the order of docs/README.md.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

type Group = { text: string; items: { text: string; link: string }[] }

const folders = ['start', 'guard', 'build', 'operate', 'explain', 'reference', 'internals']

/** One group a folder of docs/. Each page has the text of its first heading. */
export function sidebar(root: string): Group[] {
  return folders.map((folder) => ({
    text: folder[0]?.toUpperCase() + folder.slice(1),
    items: globSync(`docs/${folder}/*.md`, { cwd: root })
      .sort()
      .map((page) => ({
        text: /^# (.+)$/m.exec(readFileSync(join(root, page), 'utf8'))?.[1] ?? page,
        link: `/${page.replace(/\.md$/, '')}`,
      })),
  }))
}
