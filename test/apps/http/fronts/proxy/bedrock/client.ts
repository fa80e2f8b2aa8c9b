// Clients of Bedrock on AWS's SDK.

import {
  BedrockRuntimeClient,
  type BedrockRuntimeClientConfig,
  type ContentBlock,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'

export type BedrockAnswer = { content: ContentBlock[]; usage: { input: number; output: number } }

export type BedrockClient = (
  request: Pick<ConverseCommandInput, 'messages' | 'toolConfig'>,
  options: { isStreamed: boolean; signal?: AbortSignal | undefined },
) => Promise<BedrockAnswer>

export const modelId = 'anthropic.claude-x-v1:0'

/** AWS's client with an API key and its own default, HTTP/2. `options`: of AWS. */
export function runtimeClient(
  url: string,
  headers: Record<string, string> = {},
  options: BedrockRuntimeClientConfig = {},
): BedrockRuntimeClient {
  const client = new BedrockRuntimeClient({
    endpoint: url,
    region: 'us-east-1',
    maxAttempts: 1,
    token: { token: 'dummy' },
    authSchemePreference: ['httpBearerAuth'],
    ...options,
  })
  client.middlewareStack.add(
    (next) => async (args) => {
      Object.assign((args.request as { headers: object }).headers, headers)
      return next(args)
    },
    { step: 'build' },
  )
  return client
}

/** Converse, by HTTP/1.1 if the options name no other handler. */
export function bedrockClient(
  url: string,
  headers: Record<string, string> = {},
  options: BedrockRuntimeClientConfig = { requestHandler: new NodeHttpHandler() },
): BedrockClient {
  const client = runtimeClient(url, headers, options)
  return async (request, { isStreamed, signal }) => {
    const options = signal === undefined ? {} : { abortSignal: signal }
    const input = { modelId, ...request }
    if (!isStreamed) {
      const { output, usage } = await client.send(new ConverseCommand(input), options)
      return { content: output?.message?.content ?? [], usage: countsOf(usage) }
    }
    const { stream } = await client.send(new ConverseStreamCommand(input), options)
    const blocks: {
      text?: string
      call?: object
      input?: string
      thought?: string
      sign?: string
    }[] = []
    let usage: Parameters<typeof countsOf>[0]
    let isOver = false
    for await (const event of stream ?? []) {
      const { contentBlockStart: start, contentBlockDelta: delta } = event
      const at = (start ?? delta)?.contentBlockIndex ?? 0
      if (start !== undefined || delta !== undefined) blocks[at] ??= {}
      const block = blocks[at] ?? {}
      if (start?.start?.toolUse) block.call = start.start.toolUse
      const { text, toolUse, reasoningContent } = delta?.delta ?? {}
      if (text !== undefined) block.text = (block.text ?? '') + text
      if (toolUse) block.input = (block.input ?? '') + toolUse.input
      if (reasoningContent?.text) block.thought = (block.thought ?? '') + reasoningContent.text
      if (reasoningContent?.signature) block.sign = reasoningContent.signature
      if (event.metadata) usage = event.metadata.usage
      isOver ||= event.messageStop !== undefined
    }
    if (!isOver) throw new Error('the answer was cut')
    const content = blocks.map(({ text, call, input: json, thought, sign }) => {
      if (call !== undefined) return { toolUse: { ...call, input: JSON.parse(json || '{}') } }
      if (thought === undefined) return { text }
      return { reasoningContent: { reasoningText: { text: thought, signature: sign } } }
    })
    return { content: content as ContentBlock[], usage: countsOf(usage) }
  }
}

function countsOf(
  usage:
    | {
        inputTokens?: number | undefined
        outputTokens?: number | undefined
        cacheReadInputTokens?: number | undefined
      }
    | undefined,
) {
  const { inputTokens = 0, outputTokens = 0, cacheReadInputTokens = 0 } = usage ?? {}
  return { input: inputTokens + cacheReadInputTokens, output: outputTokens }
}

export const callsIn = (content: readonly ContentBlock[]) =>
  content.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [toolUse]))

export const textIn = (content: readonly ContentBlock[]): string =>
  content.map(({ text = '' }) => text).join('')

/** The content with the result of each call. */
export const resultsOf = (content: readonly ContentBlock[], text: string): ContentBlock[] =>
  callsIn(content).map(({ toolUseId }) => ({
    toolResult: {
      toolUseId,
      content: [{ text }],
      status: text.startsWith('Error') ? 'error' : 'success',
    },
  }))
