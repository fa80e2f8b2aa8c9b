// Before a jest run: sets the folder of the shared broker for all workers. Creates nothing, because
// most runs need no broker.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runFolderVariable } from './broker.ts'

export default function setUpRun(): void {
  process.env[runFolderVariable] = join(tmpdir(), `weir-test-${process.pid}`)
}
