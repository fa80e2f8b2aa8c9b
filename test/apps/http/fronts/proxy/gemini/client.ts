// A client of Gemini: Google's SDK from the folder that WEIR_TEST_GENAI names, in whose node_modules
// @google/genai is installed. Without the variable, requests in the form of the SDK.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

type Json = Record<string, unknown>

export type GeminiContent = { role: string; parts: Json[] }

/** The parts of all chunks, and the newest counts. */
export type GeminiAnswer = { parts: Json[]; usage: Json }

export type GeminiRequest = { contents: GeminiContent[]; tools: Json[] }

export type GeminiClient = (
  request: GeminiRequest,
  options: { isStreamed: boolean; signal?: AbortSignal | undefined },
) => Promise<GeminiAnswer>

const sdkFolder = process.env.WEIR_TEST_GENAI

export function geminiClient(url: string, headers: Record<string, string> = {}): GeminiClient {
  return sdkFolder === undefined ? plainClient(url, headers) : sdkClient(sdkFolder, url, headers)
}

function plainClient(url: string, headers: Record<string, string>): GeminiClient {
  return async (request, { isStreamed, signal = null }) => {
    const method = isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const response = await fetch(`${url}/v1beta/models/m:${method}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'x-goog-api-key': 'dummy' },
      body: JSON.stringify(request),
      signal,
    })
    const body = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${body}`)
    const chunks = isStreamed
      ? body
          .split(/\r?\n\r?\n/)
          .flatMap((event) => (event.startsWith('data:') ? [event.slice(5)] : []))
      : [body]
    return joined(chunks.map((chunk) => JSON.parse(chunk) as Json))
  }
}

type Sdk = {
  GoogleGenAI: new (
    options: object,
  ) => {
    models: {
      generateContent(request: object): Promise<Json>
      generateContentStream(request: object): Promise<AsyncIterable<Json>>
    }
  }
}

function sdkClient(folder: string, url: string, headers: Record<string, string>): GeminiClient {
  const entry = pathToFileURL(join(folder, 'node_modules/@google/genai/dist/node/index.mjs')).href
  return async ({ contents, tools }, { isStreamed, signal }) => {
    const { GoogleGenAI } = (await import(entry)) as Sdk
    const { models } = new GoogleGenAI({
      apiKey: 'dummy',
      httpOptions: { baseUrl: url, headers, fetch },
    })
    const request = { model: 'm', contents, config: { tools, abortSignal: signal } }
    if (!isStreamed) return joined([await models.generateContent(request)])
    const chunks: Json[] = []
    for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk)
    return joined(chunks)
  }
}

function joined(chunks: Json[]): GeminiAnswer {
  const failed = chunks.find(({ error }) => error !== undefined)
  if (failed !== undefined) throw new Error(JSON.stringify(failed.error))
  const parts = chunks.flatMap(({ candidates }) => {
    const [candidate] = (candidates ?? []) as { content?: { parts?: Json[] } }[]
    return candidate?.content?.parts ?? []
  })
  const counted = chunks.findLast(({ usageMetadata }) => usageMetadata !== undefined)
  return { parts, usage: (counted?.usageMetadata ?? {}) as Json }
}

export function callsIn(parts: Json[]): { id?: string; name: string; args?: Json }[] {
  return parts.flatMap(({ functionCall: call }) =>
    call === undefined ? [] : [call as { id?: string; name: string; args?: Json }],
  )
}

export function textIn(parts: Json[]): string {
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('')
}
