// The first line of a page: its name, and the source and time of its records.

import { instant } from '../../terminal/text/quantities.ts'
import type { ReportIndex } from './data.ts'
import { type Child, element } from './element.ts'

/** `about`: the name of the shown conversation; empty for the index. */
export function originLine(
  { madeAt, source, exportedAt, redaction, conversations }: ReportIndex,
  ...about: Child[]
): HTMLElement {
  const isIndex = about.length === 0
  const minute = (at: number) => `${instant(at).slice(0, 16)} UTC`
  return element(
    'p',
    { class: 'origin' },
    element(
      'a',
      {
        class: 'wordmark',
        href: '#',
        'aria-disabled': isIndex || conversations.length === 1 ? 'true' : undefined,
      },
      'weir report',
    ),
    about,
    element(
      'span',
      {},
      `read from ${source}${exportedAt === null ? '' : `, exported ${minute(exportedAt)}`}`,
    ),
    redaction !== null && element('span', { class: 'warning' }, `redacted: ${redaction}`),
    element('span', {}, madeAt === null ? 'live' : `page made ${minute(madeAt)}`),
  )
}
