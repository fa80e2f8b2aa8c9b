// A run of a host against a scripted model, directly or after Weir, and the facts that a case checks.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withHooks } from '../../../apps/http/hosts/hook-settings.ts'
import { type HostEnded, type HostFolder, openHostFolder } from '../host-run.ts'
import { versionOf } from '../installed-hosts.ts'
import {
  type ModelServer,
  type Script,
  type ScriptedAnswer,
  type SeenRequest,
  startModelServer,
} from '../model-server.ts'
import { type Program, prompt, startProgram, type WorksWith } from '../programs/program.ts'
import { type RunningServer, startProxy } from '../weir-process.ts'

/** `none`: without Weir. */
export type Front = 'none' | 'proxy' | 'veto' | 'hooks' | 'proxy and hooks'

/** `fault`: the expectation that does not hold. */
export type Result = { found: string; fault?: string | undefined }

export type Case = {
  program: string
  /** A row of the table "works with" counts this case. */
  worksWith?: WorksWith
  front: string
  title: string
  run(): Promise<Result>
}

/** A prompt of a session. `more`: arguments that depend on the session of the runs before. */
export type Prompt = { text: string; more?: (session: string) => readonly string[] }

export type Setting = {
  model: ModelServer
  folder: HostFolder
  /** Undefined with the front `none`. */
  weir: RunningServer | undefined
  /** The address that the host's settings name. */
  url: string
}

/** Writes a script for a run in this folder. */
export type ScriptIn = (work: string) => Script

/** Opens a model, Weir and a folder, and closes all three. */
export async function within<T>(
  { program, front, script }: { program: Program; front: Front; script: ScriptIn },
  run: (setting: Setting) => Promise<T>,
): Promise<T> {
  const folder = await openHostFolder()
  try {
    const model = await startModelServer(script(folder.work))
    try {
      if (front === 'none') return await run({ model, folder, weir: undefined, url: model.url })
      const weir = await startProxy(model.url, ...(front === 'veto' ? ['--veto'] : []))
      try {
        if (front.includes('hooks')) await installHooks(program, folder, weir.url)
        return await run({ model, folder, weir, url: front === 'hooks' ? model.url : weir.url })
      } finally {
        await weir.close()
      }
    } finally {
      await model.close()
    }
  } finally {
    await folder.close()
  }
}

async function installHooks(program: Program, folder: HostFolder, url: string): Promise<void> {
  const host = program.hooks
  if (host === undefined) throw new Error(`${program.title} has no hooks that Weir serves`)
  const places = { home: folder.home, folder: folder.work, environment: {} }
  const file = host.settingsFile('user', places)
  await mkdir(join(file, '..'), { recursive: true })
  const entries = host.entries(
    (kind) => `${url}/v1/hooks/${host.name}/${kind}`,
    versionOf(program.package),
  )
  await writeFile(file, withHooks('', entries, file))
}

export type Observed = {
  /** The requests that reached the provider. */
  requests: SeenRequest[]
  answers: ScriptedAnswer[]
  /** The answer of the last prompt to its user. */
  reply: string
  ended: HostEnded
  /** Interventions and denials in Weir's log. */
  advice: string[]
  /** Weir's standard error. */
  warnings: string
  home: string
}

export type ObserveOptions = {
  script: ScriptIn
  prompts?: readonly Prompt[]
  /** Fills the folder in which the host's tools run. */
  prepare?: (work: string) => Promise<void>
  /** The server of its hooks in place of Weir's. */
  hooksUrl?: string
}

/** Runs the prompts of one session, one after the other. */
export async function observe(
  program: Program,
  front: Front,
  { script, prompts = [{ text: prompt }], prepare, hooksUrl }: ObserveOptions,
): Promise<Observed> {
  return within({ program, front, script }, async ({ model, folder, weir, url }) => {
    await prepare?.(folder.work)
    if (hooksUrl !== undefined) await installHooks(program, folder, hooksUrl)
    let session = ''
    let ended: HostEnded = { code: 0, out: '', errors: '' }
    for (const { text, more } of prompts) {
      const run = await startProgram(program, folder, { url, text, more: more?.(session) ?? [] })
      ended = await run.ended
      session = program.sessionOf?.(ended) ?? ''
    }
    await weir?.stop()
    return {
      requests: model.requests,
      answers: model.answers,
      reply: program.reply(ended),
      ended,
      advice: weir === undefined ? [] : await adviceIn(weir),
      warnings: weir?.errors() ?? '',
      home: folder.home,
    }
  })
}

type Facts = Record<'rules' | 'actions' | 'denials', Record<string, number>> & {
  deniedByChecks: number
}

/** As `weir conversations` lists it: the log knows advice that changed no request. */
export async function adviceIn(weir: RunningServer): Promise<string[]> {
  const lines = (await weir.weir('conversations', '--json', '--limit', '100')).split('\n')
  return lines.filter(Boolean).flatMap((line) => {
    const { facts } = JSON.parse(line) as { facts: Facts }
    const counted = (name: 'rules' | 'actions' | 'denials') =>
      Object.entries(facts[name]).map(([key, count]) => `${count} x ${key}`)
    const rejected =
      facts.deniedByChecks > 0 ? [`${facts.deniedByChecks} calls denied by checks`] : []
    return [...counted('rules'), ...counted('actions'), ...counted('denials'), ...rejected]
  })
}

/** Without a tool to choose a model answers in text, as every provider guarantees. */
export function forbidsCalls({ body }: SeenRequest): boolean {
  const choice = body.tool_choice
  const mode = (body.toolConfig as { functionCallingConfig?: { mode?: string } } | undefined)
    ?.functionCallingConfig?.mode
  return (
    mode === 'NONE' ||
    choice === 'none' ||
    (choice as { type?: string } | undefined)?.type === 'none'
  )
}

/** A model that obeys the second text of Weir. No provider enforces it for hooks. */
export function isToldTwice({ body }: SeenRequest): boolean {
  return JSON.stringify(body).split('SYSTEM INTERVENTION').length > 2
}
