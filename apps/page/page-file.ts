// A page as one file, with style, data and script inside and no other resources.
// Models, tools and users wrote the log. The page has it only as data: as JSON without
// any `<`, or as escaped text. The script makes text nodes of it (kit/html.ts).
// The page's policy runs only the script and style with our hashes. It permits no
// loading and no sending.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { printable, printableJson } from '../terminal/text/printable.ts'
import { joinedScript } from './page-script.ts'

export type PageFile = {
  title: string
  /** Paths, in order. */
  styles: readonly string[]
  /** The path of the script's first module. */
  entry: string
  /** The content before the script has read the data. Without scripts, it is the whole page. */
  beginning: string
  /** By the ids that the script knows. */
  data: Iterable<readonly [id: string, value: unknown]>
}

/** Returns pieces, because a page may exceed the maximal length of a string. */
export function pageFile({ title, styles, entry, beginning, data }: PageFile): string[] {
  const style = styles.map((path) => readFileSync(path, 'utf8')).join('\n')
  const script = joinedScript(entry)
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(printable(title))}</title>
<style>${style}</style>
</head>
<body>
<div id="page">${beginning}</div>
`
  const blocks = Array.from(data, ([id, value]) => dataBlock(id, value))
  return [head, ...blocks, `<script>${script}</script>\n</body>\n</html>\n`]
}

/** The content of a page whose browser runs no scripts. */
export const noScript =
  '<noscript><p>This page needs its script to show a log of Weir, but this browser does not run scripts.</p></noscript>'

function policy(script: string, style: string): string {
  const inlined = { 'script-src': script, 'style-src': style }
  const hashes = Object.entries(inlined).map(
    ([directive, text]) =>
      `${directive} 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  return ["default-src 'none'", ...hashes, "base-uri 'none'", "form-action 'none'"].join('; ')
}

/** A browser does not parse the content until the script does. */
function dataBlock(id: string, data: unknown): string {
  const json = printableJson(data).replace(
    /[<>&]/g,
    (found) => `\\u00${found.charCodeAt(0).toString(16)}`,
  )
  return `<script type="application/json" id="${id}">${json}</script>\n`
}

export function escaped(text: string): string {
  return text.replace(/[<>&"']/g, (found) => `&#${found.charCodeAt(0)};`)
}
