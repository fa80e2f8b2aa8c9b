// The gateway as an MCP server for one conversation: tools, resources and prompts of the servers
// after it, in both eras of the protocol.
// Owns: the protocol to the host. Does not own: the judging (held-call.ts).
// A question to the host's person is bound to its call by a signature of this
// process. A host cannot make one up.
// A person decides in the host only for a request from the user of the gateway. Any
// other program of the machine, also the guarded agent, would allow calls in the user's name.

import { randomBytes } from 'node:crypto'
import type {
  CallToolResult,
  ClientCapabilities,
  McpServerFactory,
  ServerContext,
  StandardSchemaV1,
} from '@modelcontextprotocol/server'
import { limits } from '../../../../shared/contract/limits.ts'
import { isObject } from '../../../../shared/lib/json/json-object.ts'
import { version } from '../../../../shared/lib/version.ts'
import type { HeldCalls, HostCall, PersonAnswer } from './held-call.ts'
import type { Task } from './held-tasks.ts'
import { argumentsIn } from './host-message.ts'
import { passThrough } from './pass-through.ts'
import type { Upstreams } from './upstreams.ts'

export type GatewayServerOptions = {
  upstreams: Upstreams
  /** The calls of the conversation that a request belongs to. */
  callsOf(request: Request | undefined): HeldCalls
  /** Whether the user of the gateway has sent a request. Undefined: the host is on a pipe. */
  isOfUser(request: Request | undefined): boolean
}

/** Loads the SDK. */
export async function gatewayServers({
  upstreams,
  callsOf,
  isOfUser,
}: GatewayServerOptions): Promise<McpServerFactory> {
  const { Server, ProtocolError, ProtocolErrorCode, createRequestStateCodec, inputRequired } =
    await import('@modelcontextprotocol/server')
  const codec = createRequestStateCodec<{ call: string }>({
    key: randomBytes(32),
    ttlSeconds: limits.turnWallMsMax / 1000,
    bind: ({ mcpReq, http }) =>
      `${mcpReq.method} ${http?.req === undefined ? '' : pathOf(http.req)}`,
  })

  return async ({ requestInfo }) => {
    const passed = await passThrough(upstreams)
    const { instructions } = await upstreams.tools()
    const server = new Server(
      { name: 'weir', version: version() },
      {
        capabilities: {
          tools: { listChanged: true },
          extensions: { [tasksKey]: {} },
          ...passed.capabilities,
        },
        ...(instructions !== '' && { instructions }),
        inputRequired: { roundTimeoutMs: limits.guestHoldMs },
        requestState: { verify: codec.verify },
      },
    )
    passed.serve(server)
    const calls = callsOf(requestInfo)

    server.setRequestHandler('tools/list', async () => ({
      tools: [...(await upstreams.tools()).listed],
    }))

    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const capabilities = capabilitiesOf(context, server.getClientCapabilities())
      const hasProof = isOfUser(context.http?.req)
      const call: HostCall = {
        id: idIn(params._meta),
        name: params.name,
        input: argumentsIn(params._meta),
        signal: context.mcpReq.signal,
        traceparent: traceparentIn(params._meta),
        canAsk: hasProof && canAsk(capabilities),
        canPoll: canPoll(context),
        onProgress(progress) {
          const progressToken = params._meta?.progressToken
          if (progressToken === undefined) return
          const notification = {
            method: 'notifications/progress',
            params: { progressToken, ...progress },
          }
          context.mcpReq.notify(notification).catch(() => {}) // the host is gone
        },
      }
      const state = context.mcpReq.requestState<{ call: string }>()
      const { inputResponses } = context.mcpReq
      const answer =
        state === undefined
          ? await calls.call(call)
          : await calls.resume(call, state.call, hasProof ? answerIn(inputResponses) : undefined)
      if (answer.kind === 'result') return answer.result as CallToolResult
      // The SDK passes this kind of result on, but its types do not have it.
      if (answer.kind === 'task')
        return { resultType: 'task', ...answer.task } as unknown as CallToolResult
      return inputRequired({
        inputRequests: {
          [question]: inputRequired.elicit({
            message: answer.question,
            requestedSchema: {
              type: 'object',
              properties: { run: { type: 'boolean', title: 'Run this call' } },
              required: ['run'],
            },
          }),
        },
        requestState: await codec.mint({ call: answer.call }, context),
      })
    })
    const onTask = (method: string, answer: (task: Task) => object) =>
      server.setRequestHandler(method, { params: taskParams }, ({ taskId }, context) => {
        const task = canPoll(context) ? calls.tasks.get(taskId) : undefined
        if (task === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, noTask)
        return { ...answer(task) }
      })
    onTask('tasks/get', (task) => task)
    onTask('tasks/update', () => ({})) // no task waits for its host
    onTask('tasks/cancel', ({ taskId }) => {
      calls.tasks.cancel(taskId)
      return {}
    })
    return server
  }
}

/** The extension for results that a host asks for. */
const tasksKey = 'io.modelcontextprotocol/tasks'
const noTask = 'this conversation has no such task'

/** The parameters of the requests about a task. */
const taskParams: StandardSchemaV1<unknown, { taskId: string }> = {
  '~standard': {
    version: 1,
    vendor: 'weir',
    validate: (value) =>
      isObject(value) && typeof value.taskId === 'string'
        ? { value: { taskId: value.taskId } }
        : { issues: [{ message: 'taskId must be a text' }] },
  },
}

/** Each request of 2026 declares it. Older revisions have other tasks, which are not served. */
function canPoll({ mcpReq: { envelope } }: ServerContext): boolean {
  const declared = (envelope as Record<string, unknown> | undefined)?.[capabilitiesKey]
  return isObject(declared) && isObject(declared.extensions) && tasksKey in declared.extensions
}

/** The name of the only question in a result. */
const question = 'approval'

function pathOf({ url }: Request): string {
  return URL.parse(url)?.pathname ?? ''
}

/** Claude Code names each call, in its hooks and here. */
function idIn(meta: Record<string, unknown> | undefined): string | undefined {
  const id = meta?.['claudecode/toolUseId']
  return typeof id === 'string' && id !== '' && id.length <= idCharactersMax ? id : undefined
}

const idCharactersMax = 256

/** W3C Trace Context, version 00. */
function traceparentIn(meta: Record<string, unknown> | undefined): string | undefined {
  const given = meta?.traceparent
  return typeof given === 'string' && traceparentForm.test(given) ? given : undefined
}

const traceparentForm = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** A request of 2026 declares them itself, a connection of 2025 at its beginning. */
function capabilitiesOf(
  { mcpReq: { envelope } }: ServerContext,
  declared: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  const own = (envelope as Record<string, unknown> | undefined)?.[capabilitiesKey]
  return isObject(own) ? own : declared
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** A host that names no mode has forms. */
function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  if (elicitation === undefined) return false
  return elicitation.form !== undefined || elicitation.url === undefined
}

/** The answer is hostile input: anything else than `run: true` of an accepted form is no approval. */
function answerIn(responses: Record<string, unknown> | undefined): PersonAnswer {
  const response = responses?.[question]
  if (!isObject(response) || typeof response.action !== 'string') return undefined
  const isApproval =
    response.action === 'accept' && isObject(response.content) && response.content.run === true
  return isApproval ? 'allow' : 'deny'
}
