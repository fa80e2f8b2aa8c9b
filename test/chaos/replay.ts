// The verdict of `weir replay` on the run's topics, over Kafka and with the fleet's own commands.
// After a settled run every decision must be reproduced, with none skipped or pending. This tests
// Weir's own code on purpose. The independent checkers are in check.ts.

import { execFile } from 'node:child_process'
import type { Violation } from '../evidence/evidence.ts'
import { weirCommand } from '../support/programs.ts'

export type ReplayResult = { turns: number; decisions: number; violations: Violation[] }

const replayMs = 180_000

/** `tenantKeys`: undefined: no record is encrypted. */
export async function replayTopics(place: {
  bootstrapServers: string
  prefix: string
  folder: string
  tenantKeys: string | undefined
}): Promise<ReplayResult> {
  const { bootstrapServers, prefix, folder, tenantKeys } = place
  const { code, out, errors } = await run([
    ...[
      'replay',
      '--json',
      '--bus',
      'kafka',
      '--bootstrap-server',
      bootstrapServers,
      '--topic-prefix',
      prefix,
      '--data-folder',
      folder,
    ],
    ...(tenantKeys === undefined ? [] : ['--encryption-keys', tenantKeys]),
  ])
  const violation = (problem: string, at?: string): Violation => ({
    checker: 'replay',
    problem,
    at,
  })
  if (code !== 0 && code !== 1)
    return { turns: 0, decisions: 0, violations: [violation(`exit code ${code}: ${errors}`)] }
  const output = JSON.parse(out)
  const { turns, decisions, differences, awaited, deleted, unjudged, first } = output
  const violations: Violation[] = []
  if (differences > 0)
    violations.push(
      violation(
        `${differences} differences; the first: ${first.kind}, of ${first.stage}`,
        `${first.input.topic}/${first.input.partition}/${first.input.offset}`,
      ),
    )
  if (awaited + deleted + unjudged > 0)
    violations.push(
      violation(`${awaited} records are awaited, ${deleted} deleted, ${unjudged} not judged`),
    )
  return { turns, decisions, violations }
}

function run(args: string[]): Promise<{ code: number; out: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(
      weirCommand,
      args,
      { timeout: replayMs, maxBuffer: 64 * 1024 * 1024 },
      (error, out, errors) => {
        const code = typeof error?.code === 'number' ? error.code : error === null ? 0 : -1
        resolve({ code, out, errors: errors || String(error ?? '') })
      },
    )
  })
}
