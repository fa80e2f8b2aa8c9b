// Makes the site, README.md, docs/ and the pages of plug-ins for a browser: `node bin/site.ts FOLDER`.
// It has no script and loads nothing from elsewhere.

import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Marked } from 'marked'

const root = join(import.meta.dirname, '..')
const folder = resolve(process.argv[2] ?? 'out/site')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

const style = `:root { color-scheme: light dark }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 1rem }
nav { border-bottom: 1px solid #8884; padding-bottom: .5rem }
nav a { margin-right: 1rem }
pre { overflow-x: auto; background: #8881; padding: .75rem }
code { font: .9em ui-monospace, monospace }
table { display: block; overflow-x: auto; border-collapse: collapse }
td, th { border: 1px solid #8884; padding: .25rem .5rem; vertical-align: top; text-align: left }
img { max-width: 100% }
`

for (const page of globSync(['*.md', 'docs/**/*.md', 'integrations/*/README.md'], { cwd: root }))
  write(htmlPath(page), pageText(page))
for (const image of globSync('docs/**/*.png', { cwd: root }))
  cpSync(join(root, image), join(folder, image))
write('style.css', style)
// GitHub Pages would otherwise run its own generator over the pages.
write('.nojekyll', '')

function pageText(page: string): string {
  const markdown = readFileSync(join(root, page), 'utf8')
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? 'Weir'
  const top = relative(dirname(page), '.') || '.'
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title === 'Weir' ? title : `${title} - Weir`}</title>
<link rel="stylesheet" href="${top}/style.css">
<nav><a href="${top}/index.html">Weir ${version}</a><a href="${top}/docs/internals/architecture.html">Architecture</a><a href="${top}/CHANGELOG.html">Changes</a></nav>
<main>
${converter().parse(markdown)}</main>
</html>
`
}

/** One for each page: headings that repeat get a number, as on GitHub. */
function converter(): Marked {
  const uses = new Map<string, number>()
  return new Marked({
    async: false,
    walkTokens(token) {
      if (token.type === 'link' && !/^[a-z]+:/.test(token.href)) token.href = htmlPath(token.href)
    },
    renderer: {
      heading(text, level, raw) {
        const slug = raw
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-')
        const count = uses.get(slug) ?? 0
        uses.set(slug, count + 1)
        const id = count === 0 ? slug : `${slug}-${count}`
        return `<h${level} id="${id}">${text}</h${level}>\n`
      },
    },
  })
}

/** The place of a page in the site, also of a link with an anchor. */
function htmlPath(page: string): string {
  return page.replace(/(^|\/)README\.md\b/, '$1index.md').replace(/\.md(?=#|$)/, '.html')
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
