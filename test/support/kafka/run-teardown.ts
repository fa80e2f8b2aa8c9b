// After a jest run: stops its shared broker, if there is one.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { runFolder, sharedState } from './broker.ts'

const stopMs = 30_000

export default async function tearDownRun(): Promise<void> {
  const folder = runFolder()
  const host = sharedState(folder)?.host
  if (host === undefined) return
  process.kill(host, 'SIGTERM')
  const deadline = performance.now() + stopMs
  while (existsSync(folder) && performance.now() < deadline) await sleep(50)
}
