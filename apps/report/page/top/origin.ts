// The first line of a page: its name, and the source and time of its records.

import { type Child, html } from '../../../page/kit/html.ts'
import { instant } from '../../../terminal/text/quantities.ts'
import type { ReportIndex } from '../data.ts'

/** `about`: the name of the shown conversation; undefined for the index. */
export function originLine(
  { madeAt, source, exportedAt, redaction, conversations }: ReportIndex,
  about?: Child,
): Child {
  const isHere = about === undefined || conversations.length === 1
  const minute = (at: number) => `${instant(at).slice(0, 16)} UTC`
  return html`<p class="origin">
    <a class="wordmark" href="#" aria-disabled=${isHere ? 'true' : undefined}>weir report</a>
    ${about}
    <span>read from ${source}${exportedAt === null ? '' : `, exported ${minute(exportedAt)}`}</span>
    ${redaction !== null && html`<span class="warning">redacted: ${redaction}</span>`}
    <span>${madeAt === null ? 'live' : `page made ${minute(madeAt)}`}</span>
  </p>`
}
