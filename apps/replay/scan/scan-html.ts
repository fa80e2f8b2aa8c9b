// `--html FILE` writes a page with the screen of a scan.

import { join } from 'node:path'
import { noScript, pageFile } from '../../page/page-file.ts'
import { baseStyles } from '../../page/page-styles.ts'
import type { ScanScreen } from './scan-screen.ts'

export function scanHtml(screen: ScanScreen): string[] {
  return pageFile({
    title: 'Weir scan',
    styles: baseStyles,
    entry: join(import.meta.dirname, '..', 'page', 'main.ts'),
    beginning: noScript,
    data: [['scan', screen]],
  })
}
