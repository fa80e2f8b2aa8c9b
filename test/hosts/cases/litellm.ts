// The guardrail of this repository in LiteLLM's proxy, with a client that runs the calls of its answers.

import { copyFile, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import OpenAI from 'openai'
import { openHostFolder } from '../host-run.ts'
import { installed, type PythonPackages, versionOf } from '../installed-hosts.ts'
import { type ModelServer, type Script, startModelServer } from '../model-server.ts'
import { type RunningServer, startProxy } from '../weir-process.ts'
import { type Case, forbidsCalls, type Result } from './case.ts'
import { finalText, sameSuccess } from './incidents.ts'

const packages: PythonPackages = {
  pypi: { 'litellm[proxy]': '1.108.7' },
  host: 'litellm[proxy]',
  bin: 'litellm',
}
const file = 'weir_guardrail.py'
const source = join(import.meta.dirname, '..', '..', '..', 'integrations', 'litellm', file)
const key = 'sk-dummy-key-of-the-suite-0123456789'
const roundsMax = 25

type Setting = { model: ModelServer; weir: RunningServer; client: OpenAI }
type Message = OpenAI.ChatCompletionMessageParam

export function litellmCases(): Case[] {
  const of = (title: string, script: Script, run: (setting: Setting) => Promise<Result>): Case => ({
    program: `LiteLLM ${versionOf(packages)}`,
    worksWith: { plugin: { folder: 'litellm' } },
    front: 'plug-in',
    title,
    run: () => behindGuardrail(script, run),
  })
  const loop: Script = (request, number) =>
    number > 2 * roundsMax || forbidsCalls(request) ? { text: finalText } : exec('echo same')
  const two: Script = (_, number) =>
    number === 1 ? exec('touch forbidden', 'touch allowed') : { text: finalText }
  return [
    of('the guardrail ends a loop, whole and streamed', loop, async ({ model, client }) => {
      const counts: number[] = []
      for (const isStreamed of [false, true]) {
        const before = model.requests.length
        await runAgent(client, isStreamed)
        counts.push(model.requests.length - before)
      }
      const isEnded = counts.every((count) => count > 0 && count <= sameSuccess.requestsMax)
      return {
        found: `${counts.join(' and ')} requests`,
        fault: isEnded ? undefined : `more than ${sameSuccess.requestsMax}`,
      }
    }),
    of('an enforcing guard takes one of two calls out of an answer', two, async (setting) => {
      const guard = join(import.meta.dirname, '..', 'guards', 'forbidden.mjs')
      await setting.weir.start('starting', ...['guard', 'run', guard, '--mode', 'enforce'], ...log)
      const { ran, messages } = await runAgent(setting.client, true)
      const isTold = JSON.stringify(messages).includes('Leave that file alone.')
      return {
        found: `ran: ${ran.join()}; the model has the reason: ${isTold}`,
        fault: ran.join() === 'touch allowed' && isTold ? undefined : 'the guard did not decide',
      }
    }),
    of('no call runs if Weir does not answer', two, async ({ model, weir, client }) => {
      await weir.stop()
      const error = await runAgent(client, false).then(
        () => 'an answer',
        (failure: unknown) => String(failure),
      )
      const requests = model.requests.length
      return {
        found: `${requests} requests, ${error.slice(0, 70)}`,
        fault: requests === 0 && error.includes('start weir proxy') ? undefined : error,
      }
    }),
  ]
}

const log = ['--log-level', 'info']

const exec = (...commands: string[]) => ({
  calls: commands.map((command) => ({ name: 'exec', input: JSON.stringify({ command }) })),
})

async function behindGuardrail(
  script: Script,
  run: (setting: Setting) => Promise<Result>,
): Promise<Result> {
  const litellm = await installed(packages)
  const folder = await openHostFolder()
  const model = await startModelServer(script)
  const weir = await startProxy(model.url)
  try {
    const port = await freePort()
    await copyFile(source, join(folder.work, file))
    await writeFile(join(folder.work, 'config.yaml'), configuration(model.url, weir.url))
    const host = folder.start(
      litellm,
      ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', `${port}`],
      { LITELLM_MASTER_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    )
    const baseURL = `http://127.0.0.1:${port}`
    const ended = host.ended.then(({ errors }) => Promise.reject(new Error(errors.slice(-400))))
    await Promise.race([ended, untilAlive(`${baseURL}/health/liveliness`)])
    ended.catch(() => {}) // the folder ends it
    return await run({ model, weir, client: new OpenAI({ baseURL, apiKey: key, maxRetries: 0 }) })
  } finally {
    await folder.close()
    await weir.close()
    await model.close()
  }
}

/** JSON is YAML too. */
function configuration(model: string, weir: string): string {
  const scripted = { model: 'openai/scripted', api_base: `${model}/v1`, api_key: 'dummy' }
  const guardrail = {
    guardrail: 'weir_guardrail.WeirGuardrail',
    mode: ['pre_call', 'post_call'],
    default_on: true,
    api_base: weir,
  }
  return JSON.stringify({
    model_list: [{ model_name: 'scripted', litellm_params: scripted }],
    guardrails: [{ guardrail_name: 'weir', litellm_params: guardrail }],
  })
}

/** An agent of a few lines: its tool `exec` only notes its commands. */
async function runAgent(
  client: OpenAI,
  isStreamed: boolean,
): Promise<{ ran: string[]; messages: Message[] }> {
  const ran: string[] = []
  const messages: Message[] = [{ role: 'user', content: 'Do the task.' }]
  const parameters = {
    type: 'object',
    properties: { command: { type: 'string' } },
    required: ['command'],
  }
  const tools = [{ type: 'function' as const, function: { name: 'exec', parameters } }]
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const request = { model: 'scripted', messages, tools }
    const { choices } = isStreamed
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
    const message = choices[0]?.message
    if (message === undefined) throw new Error('no choice')
    messages.push(message)
    const calls = message.tool_calls ?? []
    if (calls.length === 0) break
    for (const call of calls) {
      if (call.type === 'function') ran.push(JSON.parse(call.function.arguments).command)
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'done' })
    }
  }
  return { ran, messages }
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

async function untilAlive(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
