// The page of a report, as one file (apps/page/page-file.ts).

import { join } from 'node:path'
import { escaped, noScript, pageFile } from '../page/page-file.ts'
import { baseStyles } from '../page/page-styles.ts'
import { printable } from '../terminal/text/printable.ts'
import type { Phrase, ReportIndex } from './page/data.ts'
import type { MadeReport } from './report-data.ts'

const folder = join(import.meta.dirname, 'page')

/** The paths of the styles of a conversation, in order. */
export const conversationStyles = [
  ...baseStyles,
  ...['axis/timeline.css', 'list/rounds.css', 'details/details.css'].map((name) =>
    join(folder, name),
  ),
]

/** `reports`: by their places in the index. Returns pieces, as pageFile does. */
export function pageHtml(index: ReportIndex, reports: MadeReport[]): string[] {
  const [only] = index.conversations
  const title =
    index.conversations.length === 1 && only !== undefined
      ? only.conversation
      : `${index.conversations.length} conversations`
  return pageFile({
    title: `${title} · Weir report`,
    styles: [...conversationStyles, join(folder, 'print.css')],
    entry: join(folder, 'main.ts'),
    beginning: beginning(index),
    data: [
      ['index', index],
      ...reports.flatMap(({ data, records }, place) => [
        [`data-${place}`, data] as const,
        [`records-${place}`, records] as const,
      ]),
    ],
  })
}

/** The content before the script has read the data. */
function beginning({ conversations }: ReportIndex): string {
  const [only] = conversations
  if (conversations.length === 1 && only !== undefined)
    return `<div class="conversation"><p class="origin"><span class="wordmark">weir report</span><b>${escaped(printable(only.conversation))}</b></p><h1 class="sentence">${phrasesText(only.sentence)}</h1>${noScript}</div>`
  const items = conversations.map(
    ({ conversation, sentence }) =>
      `<li>${escaped(printable(conversation))}<p>${phrasesText(sentence)}</p></li>`,
  )
  return `<div class="index"><p class="origin"><span class="wordmark">weir report</span></p>${noScript}<ol class="conversations">${items.join('')}</ol></div>`
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
