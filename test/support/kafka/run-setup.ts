// Before a jest run: sets the folders of the shared broker and of the logs for all workers. Creates
// nothing, because most runs need neither.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logsVariable } from '../jest/process-logs.ts'
import { runFolderVariable } from './broker.ts'

export default function setUpRun(): void {
  process.env[runFolderVariable] = join(tmpdir(), `weir-test-${process.pid}`)
  process.env[logsVariable] = join(tmpdir(), `weir-test-${process.pid}-logs`)
}
