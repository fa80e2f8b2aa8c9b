// The files of the console's page: its document, its script, its style, and the libraries as they are
// in node_modules. No bundler makes them (apps/report/page-script.ts).
// CONSOLE-ASSETS-1. The page's policy runs scripts of this server only and loads nothing from
//     elsewhere. No script or style is in the document.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { joinedScript } from '../../report/page-script.ts'

export type Asset = { type: string; body: string }

export const consolePath = '/console'

const folder = join(import.meta.dirname, 'page')
const reportFolder = join(import.meta.dirname, '..', '..', 'report', 'page')
const reportStyles = ['colours.css', 'page.css', 'timeline.css', 'rounds.css', 'details.css']

/** By the name in a module: its entry for `require`, and its file for a browser, beside that entry. */
const libraries = {
  preact: { entry: 'preact', file: 'preact.mjs' },
  htm: { entry: 'htm', file: 'htm.mjs' },
  uplot: { entry: 'uplot', file: 'uPlot.esm.js' },
  'eventsource-parser': { entry: 'eventsource-parser', file: 'index.js' },
} as const

/** Modules that the entry of a library imports. */
const parts = { 'eventsource-parser': ['errors.js', 'parse.js'] }

export const pagePolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  ...["img-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

/** Its bar is there before the script. `modules`: the addresses that the script will load. */
const documentWith = (modules: readonly string[]) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Weir console</title>
<link rel="icon" href="${consolePath}/assets/icon.svg">
<link rel="stylesheet" href="${consolePath}/assets/uplot.css">
<link rel="stylesheet" href="${consolePath}/assets/console.css">
${modules.map((address) => `<link rel="modulepreload" href="${address}">`).join('\n')}
<script type="module" src="${consolePath}/assets/console.js"></script>
</head>
<body>
<div id="console"><div class="console"><header class="bar"><span class="wordmark">weir console</span></header></div><noscript><p>The console needs its script, but this browser does not run scripts.</p></noscript></div>
<div id="page"></div>
</body>
</html>
`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 5h14M1 8h9M1 11h14" stroke="#2b6e4a" stroke-width="2"/></svg>`

/** By path. The files are read once. */
export function consoleAssets(): ReadonlyMap<string, Asset> {
  const { resolve } = createRequire(import.meta.url)
  const script = 'text/javascript; charset=utf-8'
  const style = 'text/css; charset=utf-8'
  const found = new Map<string, Asset>()
  const addresses: Record<string, string> = {}
  for (const [name, { entry, file }] of Object.entries(libraries)) {
    const from = dirname(resolve(entry))
    addresses[name] = `${consolePath}/assets/${name}/${file}`
    const own = name === 'eventsource-parser' ? parts[name] : []
    for (const one of [file, ...own]) {
      const body = readFileSync(join(from, one), 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '')
      found.set(`${consolePath}/assets/${name}/${one}`, { type: script, body })
    }
  }
  const css = [
    ...reportStyles.map((name) => join(reportFolder, name)),
    join(folder, 'console.css'),
    join(folder, 'inbox.css'),
    join(folder, 'operator.css'),
  ]
  const files: Record<string, Asset> = {
    '': { type: 'text/html; charset=utf-8', body: documentWith([...found.keys()]) },
    '/assets/icon.svg': { type: 'image/svg+xml', body: icon },
    '/assets/uplot.css': {
      type: style,
      body: readFileSync(join(dirname(resolve('uplot')), 'uPlot.min.css'), 'utf8'),
    },
    '/assets/console.css': {
      type: style,
      body: css.map((path) => readFileSync(path, 'utf8')).join('\n'),
    },
    '/assets/console.js': { type: script, body: joinedScript(join(folder, 'main.ts'), addresses) },
  }
  for (const [path, asset] of Object.entries(files)) found.set(consolePath + path, asset)
  return found
}
