// The files of the console's page: its document, its script with the libraries, and its style. No
// bundler makes them (apps/page/page-script.ts).
// The page's policy runs scripts of this server only and loads nothing from
// elsewhere. No script or style is in the document.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinedScript } from '../../page/page-script.ts'
import { plotStyles } from '../../page/page-styles.ts'
import { conversationStyles } from '../../report/page-html.ts'
import { consolePath } from '../edge/console-path.ts'

export type Asset = { type: string; body: string }

/** The part after # reaches no server and no log of one. The page keeps the key in its tab. */
export function consoleAddress(url: string, key: string | undefined): string {
  return `${url}${consolePath}${key === undefined ? '' : `#/key/${key}`}`
}

const folder = join(import.meta.dirname, 'page')
const styles = ['console.css', 'inbox/inbox.css', 'operator/operator.css']

export const pagePolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"],
  ...["img-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ')

/** Of the page, which stands at consolePath below any path. */
const assets = `${consolePath.slice(1)}/assets`

/** Its bar is there before the script. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Weir console</title>
<link rel="icon" href="${assets}/icon.svg">
<link rel="stylesheet" href="${assets}/console.css">
<script defer src="${assets}/console.js"></script>
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
  const css = [...conversationStyles, ...plotStyles, ...styles.map((name) => join(folder, name))]
  const style = css.map((path) => readFileSync(path, 'utf8')).join('\n')
  const script = joinedScript(join(folder, 'main.ts'))
  const files: Record<string, Asset> = {
    '': { type: 'text/html; charset=utf-8', body: page },
    '/assets/icon.svg': { type: 'image/svg+xml', body: icon },
    '/assets/console.css': { type: 'text/css; charset=utf-8', body: style },
    '/assets/console.js': { type: 'text/javascript; charset=utf-8', body: script },
  }
  return new Map(Object.entries(files).map(([path, asset]) => [consolePath + path, asset]))
}
