// `--sweep … -o FILE` writes a page with the plot and the table of a sweep.

import { join } from 'node:path'
import { noScript, pageFile } from '../page/page-file.ts'
import { baseStyles, plotStyles } from '../page/page-styles.ts'
import type { SweepPage } from './sweep-table.ts'

export function sweepHtml(sweep: SweepPage): string[] {
  return pageFile({
    title: `${sweep.key} · Weir replay`,
    styles: [...baseStyles, ...plotStyles],
    entry: join(import.meta.dirname, 'page', 'main.ts'),
    beginning: noScript,
    data: [['sweep', sweep]],
  })
}
