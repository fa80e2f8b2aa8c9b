// The page as one file, with style, data and script inside and no other resources.
// PAGE-HTML-1. Models, tools and users wrote the log. The page has it only as data: as JSON without
//     any `<`, or as escaped text. The script makes text nodes of it (page/element.ts).
// PAGE-HTML-2. The page's policy runs only the script and style with our hashes. It permits no
//     loading and no sending.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { joinedScript } from '../page/page-script.ts'
import { printable, printableJson } from '../terminal/text/printable.ts'
import type { Phrase, ReportIndex } from './page/data.ts'
import type { MadeReport } from './report-data.ts'

const folder = join(import.meta.dirname, 'page')
const kit = join(import.meta.dirname, '..', 'page', 'kit')

/** The paths of the styles of a conversation, in order. */
export const conversationStyles = [
  ...['colours.css', 'page.css'].map((name) => join(kit, name)),
  ...['axis/timeline.css', 'list/rounds.css', 'details/details.css'].map((name) =>
    join(folder, name),
  ),
]

/**
 * `reports`: by their places in the index. Returns pieces, because a page may exceed the maximal
 * length of a string.
 */
export function pageHtml(index: ReportIndex, reports: MadeReport[]): string[] {
  const style = [...conversationStyles, join(folder, 'print.css')]
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const script = joinedScript(join(folder, 'main.ts'))
  const [only] = index.conversations
  const title =
    index.conversations.length === 1 && only !== undefined
      ? only.conversation
      : `${index.conversations.length} conversations`
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(printable(title))} · Weir report</title>
<style>${style}</style>
</head>
<body>
<div id="page">${beginning(index)}</div>
`
  return [
    head,
    dataBlock('index', index),
    ...reports.flatMap(({ data, records }, place) => [
      dataBlock(`data-${place}`, data),
      dataBlock(`records-${place}`, records),
    ]),
    `<script>${script}</script>\n</body>\n</html>\n`,
  ]
}

function policy(script: string, style: string): string {
  const inlined = { 'script-src': script, 'style-src': style }
  const hashes = Object.entries(inlined).map(
    ([directive, text]) =>
      `${directive} 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  return ["default-src 'none'", ...hashes, "base-uri 'none'", "form-action 'none'"].join('; ')
}

/** Keeps PAGE-HTML-1. A browser does not parse the content until the script does. */
export function dataBlock(id: string, data: unknown): string {
  const json = printableJson(data).replace(
    /[<>&]/g,
    (found) => `\\u00${found.charCodeAt(0).toString(16)}`,
  )
  return `<script type="application/json" id="${id}">${json}</script>\n`
}

/**
 * The content before the script has read the data. Without scripts, it is the whole page.
 */
function beginning({ conversations }: ReportIndex): string {
  const [only] = conversations
  const without =
    '<noscript><p>This page needs its script to show a log of Weir, but this browser does not run scripts.</p></noscript>'
  if (conversations.length === 1 && only !== undefined)
    return `<div class="conversation"><p class="origin"><span class="wordmark">weir report</span><b>${escaped(printable(only.conversation))}</b></p><h1 class="sentence">${phrasesText(only.sentence)}</h1>${without}</div>`
  const items = conversations.map(
    ({ conversation, sentence }) =>
      `<li>${escaped(printable(conversation))}<p>${phrasesText(sentence)}</p></li>`,
  )
  return `<div class="index"><p class="origin"><span class="wordmark">weir report</span></p>${without}<ol class="conversations">${items.join('')}</ol></div>`
}

function phrasesText(sentence: Phrase[]): string {
  return sentence
    .map((phrase) =>
      typeof phrase === 'string'
        ? escaped(phrase)
        : `<code>${escaped(printable(phrase.code))}</code>`,
    )
    .join('')
}

function escaped(text: string): string {
  return text.replace(/[<>&"']/g, (found) => `&#${found.charCodeAt(0)};`)
}
