// Turns a real run into a fixture. The first run calls the provider and writes its answers to a file.
// Every later run reads them from there, without a key and without a network.
// The file has no header of a request, so it has no key. Its bodies are those of the agent.
// An answer belongs to its request. A request that differs from the recorded one is
// refused with the first place that differs.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { httpFetch } from '../../services/llm-gateway/performer/wire/http-fetch.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { parseJson } from '../../shared/wire/exact-json.ts'
import type { DefinedModel } from '../define/models.ts'

type Exchange = { request: unknown; status: number; contentType: string; body: string }

type Recording = { recording: 1; exchanges: Exchange[] }

/**
 * The same model, with its answers kept in `file` (JSON, for your repository). Delete the file to
 * record again. Each recorded model belongs to one test: its requests come in the recorded order.
 * Throws an Error if the file is no recording.
 */
export function recordedModel(file: string, model: DefinedModel): DefinedModel {
  const recording = existsSync(file) ? recordingIn(file) : undefined
  // The key of the environment may be missing where answers come from the file.
  if (recording !== undefined)
    return { ...model, apiKey: 'recorded', fetch: replayed(file, recording.exchanges) }
  return { ...model, fetch: recorded(file, model.fetch ?? httpFetch) }
}

function recordingIn(file: string): Recording {
  const value = parseJson(readFileSync(file, 'utf8'))
  if (isObject(value) && value.recording === 1 && Array.isArray(value.exchanges))
    return value as Recording
  throw new Error(`${file} is no recording of recordedModel: delete it to record again`)
}

function recorded(file: string, send: typeof globalThis.fetch): typeof globalThis.fetch {
  const exchanges: Exchange[] = []
  return async (url, init) => {
    const response = await send(url, init)
    const contentType = response.headers.get('content-type') ?? ''
    const body = await bodyOf(response)
    const request: unknown = JSON.parse(String(init?.body))
    exchanges.push({ request, status: response.status, contentType, body })
    const recording: Recording = { recording: 1, exchanges }
    writeFileSync(file, `${JSON.stringify(recording, undefined, 2)}\n`)
    return answerOf({ request, status: response.status, contentType, body })
  }
}

async function bodyOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function replayed(file: string, exchanges: readonly Exchange[]): typeof globalThis.fetch {
  let count = 0
  return async (_url, init) => {
    const expected = exchanges[count]
    count += 1
    const request: unknown = JSON.parse(String(init?.body))
    if (expected === undefined)
      return refusal(`${file} has ${exchanges.length} answers, and this is request ${count}`)
    const place = differenceIn(expected.request, request)
    if (place === undefined) return answerOf(expected)
    return refusal(`request ${count} differs from the one in ${file}, at ${place}`)
  }
}

/** Weir does not repeat a request after status 400. */
function refusal(reason: string): Response {
  const message = `${reason}. Delete the file to record again`
  return Response.json({ type: 'error', error: { type: 'api_error', message } }, { status: 400 })
}

function answerOf({ status, contentType, body }: Exchange): Response {
  return new Response(body, { status, headers: { 'content-type': contentType } })
}

/** The path of the first difference, as a JSON pointer; undefined: they are equal. */
function differenceIn(a: unknown, b: unknown, path = ''): string | undefined {
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null)
    return Object.is(a, b) ? undefined : path || '/'
  const [left, right] = [a, b] as Record<string, unknown>[]
  for (const key of new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])) {
    const place = differenceIn(left?.[key], right?.[key], `${path}/${key}`)
    if (place !== undefined) return place
  }
  return undefined
}
