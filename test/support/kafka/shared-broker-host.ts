// The process that holds the shared broker of a test run: shared-broker-host.ts FOLDER PID. It ends
// with the process PID (the run), or by SIGTERM.

import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { type SharedState, sharedStateFile, startBroker } from './broker.ts'

const [folder = '', run = ''] = process.argv.slice(2)
let isOver = false
process.on('SIGTERM', () => {
  isOver = true
})

try {
  const broker = await startBroker()
  tell({ bootstrapServers: broker.bootstrapServers })
  while (!isOver && isAlive(Number(run))) await sleep(200)
  await broker.stop()
} catch (error) {
  tell({ error: (error as Error).message })
  while (!isOver && isAlive(Number(run))) await sleep(200) // later callers get the same answer
}
rmSync(folder, { recursive: true, force: true })
process.exit()

function tell(state: { bootstrapServers: string } | { error: string }): void {
  if (!existsSync(folder)) return // the run is over
  const file = sharedStateFile(folder)
  writeFileSync(
    `${file}.new`,
    JSON.stringify({ ...state, host: process.pid } satisfies SharedState),
  )
  renameSync(`${file}.new`, file)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
