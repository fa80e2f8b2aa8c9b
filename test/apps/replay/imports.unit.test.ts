// No file that a replay imports can reach a model or a tool. The test walks the graph of all
// imports, including dynamic ones. Only the bus knows a broker or a SQLite file, and the replay gets
// it without the means to write.

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from '@jest/globals'
import { parseSync } from '@swc/core'

const root = fileURLToPath(new URL('../../..', import.meta.url))

type Found = { file: string; target: string }

/**
 * Every file that can be loaded by this one, and every package or module of Node that they name;
 * types are not loaded. `except`: not followed.
 */
function graphOf(
  start: string,
  except: readonly string[] = [],
): { files: Set<string>; modules: Found[] } {
  const files = new Set([start])
  const modules: Found[] = []
  for (const file of files)
    for (const target of targetsIn(readFileSync(join(root, file), 'utf8'))) {
      const path = target.startsWith('.')
        ? relative(root, join(root, dirname(file), target))
        : undefined
      if (path === undefined) modules.push({ file, target })
      else if (path.endsWith('.ts') && !except.includes(path)) files.add(path)
    }
  return { files, modules }
}

function targetsIn(source: string): string[] {
  const targets: string[] = []
  walk(parseSync(source, { syntax: 'typescript', target: 'es2024' }).body)
  return targets

  function walk(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    const node = value as {
      type?: string
      typeOnly?: boolean
      source?: { value: string } | null
    } & Record<string, unknown>
    if (
      node.type !== undefined &&
      /^(Import|ExportAll|ExportNamed)Declaration$/.test(node.type) &&
      node.source != null &&
      node.typeOnly !== true
    )
      targets.push(node.source.value)
    const [first] =
      (node.type === 'CallExpression'
        ? (node.arguments as { expression: { type: string; value?: string } }[])
        : []) ?? []
    if ((node.callee as { type?: string } | undefined)?.type === 'Import')
      targets.push(first?.expression.value ?? 'something that is not written here')
    for (const child of Object.values(value)) walk(child)
  }
}

const command = 'apps/replay/replay.ts'
const guard = 'apps/replay/guard/guard-process.ts'
/** Loaded only with the setting `encryptionCommand`. */
const keyCommand = 'shared/bus/encryption/key-command.ts'

describe('the imports of a replay', () => {
  it('are visible to this test, which finds those of the executor', () => {
    const { files, modules } = graphOf('services/stages.ts')
    expect(files).toContain('services/executor/performer/performer.ts')
    expect(modules.map(({ target }) => target)).toEqual(
      expect.arrayContaining(['node:child_process', '@anthropic-ai/sdk']),
    )
  })

  it('include no performer, no provider and no kind of tool', () => {
    const { files } = graphOf(command, [guard, keyCommand])
    expect(files).toContain('services/llm-gateway/reducer.ts')
    const worldly =
      /performer|services\/stages\.ts|client\/weir\.ts|llm-gateway\/(providers|wire|attempt|answer)|executor\/tools\//
    expect([...files].filter((file) => worldly.test(file))).toEqual([])
  })

  it('include no processes, threads, servers or SDKs, and only a bus has connections', () => {
    const { modules } = graphOf(command, [guard, keyCommand])
    const outside = modules.filter(({ file }) => !file.startsWith('shared/bus/'))
    const worldly =
      /^(node:)?(child_process|worker_threads|cluster|net|tls|dgram|dns|https?|http2|inspector)(\/|$)|sdk|openai|kafkajs$/
    expect(outside.filter(({ target }) => worldly.test(target))).toEqual([])
    expect(
      modules.filter(({ target }) =>
        /^(node:)?(child_process|worker_threads|cluster|https?|http2)$|sdk|openai/.test(target),
      ),
    ).toEqual([])
  })

  it('start a guard and look for its sandbox in two files, which are loaded only for --guard', () => {
    const { files, modules } = graphOf(guard)
    expect(
      modules.filter(({ target }) => target.includes('child_process')).map(({ file }) => file),
    ).toEqual(['apps/replay/guard/guard-launch.ts', 'shared/lib/sandbox/backend.ts'])
    expect([...files].filter((file) => /performer|stages\.ts/.test(file))).toEqual([])
    const loads =
      readFileSync(join(root, command), 'utf8')
        .replaceAll(/\s+/g, ' ')
        .match(/given\.guard [^;]{0,60}guard-process|guard-process/g) ?? []
    expect(loads).toEqual([
      expect.stringContaining(
        "given.guard === undefined ? undefined : await (await import('./guard/guard-process",
      ),
    ])
  })
})
