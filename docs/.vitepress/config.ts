// The site: README.md, the pages below docs/ and the plug-ins' pages, with search and without a server.
// `make docs` builds the site into out/site. Loads nothing from elsewhere.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { sidebar } from './sidebar.ts'

const root = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The main page of a folder in a link without a host. */
const readme = /^((?![a-z]+:)(?:.*\/)?)README\.md(?=#|$)/

export default defineConfig({
  title: 'Weir',
  description: 'Stands between a language model and its tools: no call runs that should not.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: root,
  srcExclude: [
    ...readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !['docs', 'integrations'].includes(entry.name))
      .map(({ name }) => `${name}/**`),
    'integrations/*/!(README).md',
    'integrations/*/*/**',
  ],
  outDir: join(root, 'out/site'),
  cacheDir: join(root, 'node_modules/.vitepress'),
  rewrites: {
    'README.md': 'index.md',
    'docs/README.md': 'docs/index.md',
    'integrations/:host/README.md': 'integrations/:host/index.md',
  },
  cleanUrls: false,
  markdown: {
    // The anchors of GitHub, so a link leads to the same heading at both places.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
    },
    config(markdown) {
      markdown.core.ruler.push('readme', ({ tokens }) => {
        for (const link of tokens.flatMap(({ children }) => children ?? []))
          if (link.type === 'link_open')
            link.attrSet('href', String(link.attrGet('href')).replace(readme, '$1index.md'))
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Docs', link: '/docs/' },
      { text: 'Changes', link: '/CHANGELOG' },
      { text: version, link: '/docs/operate/upgrade' },
    ],
    sidebar: sidebar(root),
    outline: 'deep',
  },
})
