// Before a jest run: names the folder in which its workers find their shared broker. Makes nothing:
// most runs need none.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFolderVariable } from './broker.ts'

export default function setUpRun(): void {
  process.env[runFolderVariable] = join(tmpdir(), `weir-test-${process.pid}`)
}
