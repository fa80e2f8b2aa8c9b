// The content of an agent file after agent.schema.json has checked it. Values that the schema
// refused are undefined under their keys. The rest can still be checked, so all mistakes are
// reported at once.

import type {
  EmptyAllowance,
  LoopThresholds,
  OnceScope,
  TextCallsMode,
  TreeCaps,
} from '../../contract/messages.ts'
import type { FunctionTool, ReasoningEffort, Tool } from '../agents.ts'
import type { RecordedParts } from '../guest.ts'
import type { SandboxFields, SandboxSetting } from '../sandbox.ts'

/** Caps of a tree, as an agent sets them. */
export type TreeFields = { [Cap in keyof TreeCaps]?: number }

export type AgentContent = {
  name?: string
  guest?: true
  record?: RecordedParts
  hints?: Record<string, (HintsContent & Pick<ToolContent, 'poll'>) | undefined>
  system?: string
  systemFile?: string
  model?: ModelContent
  fallback?: string
  caps?: { rounds?: number; calls?: number; wallMs?: number; tokens?: number }
  tree?: TreeFields
  loop?: Partial<LoopThresholds> & { rules?: Record<string, RuleMode | undefined> }
  empty?: Partial<EmptyAllowance>
  attempts?: number
  stallMs?: number
  firstByteMs?: number
  startWithinMs?: number
  graceMs?: number
  toolTries?: number
  textCalls?: TextCallsMode
  history?: { keep?: { rounds?: number; tokens?: number }; summarise?: string }
  redact?: (RedactContent | undefined)[]
  sandbox?: SandboxContent
  tools?: (ToolContent | undefined)[]
  mcp?: Record<string, McpContent | undefined>
  trust?: (string | undefined)[]
}

/** A class, a path, or a pattern with its name. */
export type RedactContent = string | { name?: string; pattern?: string }

export type McpContent = {
  command?: (string | undefined)[]
  cwd?: string
  env?: (string | undefined)[]
  sandbox?: SandboxContent
  url?: string
  headers?: Record<string, string | undefined>
  auth?: {
    clientId?: string
    clientSecret?: string
    issuer?: string
    scope?: string
    tokenFile?: string
  }
  allow?: (string | undefined)[]
  deny?: (string | undefined)[]
  labels?: Record<string, LabelsContent | undefined>
  toolsFile?: string
  traceparent?: boolean
  concealed?: 'clean' | 'refuse'
  pin?: 'on' | 'off'
  startMs?: number
  timeoutMs?: number
  wallMs?: number
  outputBytesMax?: number
}

/** A list may have items that the schema refused. */
type Unchecked<T> = T extends (infer Item)[] ? (Item | undefined)[] : T

export type SandboxContent =
  | Exclude<SandboxSetting, SandboxFields>
  | { [Field in keyof SandboxFields]: Unchecked<SandboxFields[Field]> }

/** The flow of data through a tool. */
export type LabelsContent = { reads?: string | (string | undefined)[]; sends?: string }

/** `for`: a duration, such as `24h`. */
export type OnceContent = { by?: (string | undefined)[]; for?: string; within?: OnceScope }

export type HintsContent = LabelsContent &
  Pick<ToolContent, 'mutates' | 'ignoreFields' | 'loopKey' | 'once' | 'denial' | 'client'>

export type RuleMode = 'enforce' | 'shadow'

export type ModelContent = {
  provider?: string
  name?: string
  baseUrl?: string
  apiKey?: string
  maxOutputTokens?: number
  temperature?: number
  topP?: number
  reasoningEffort?: ReasoningEffort
  serviceTier?: string
  seed?: number
  headers?: Record<string, string | undefined>
  toolCalls?: 'native' | 'text'
  endMark?: 'missing'
  limits?: LimitsContent
}

export type LimitsContent = {
  requestsAtOnce?: number
  requestsPerMinute?: number
  tokensPerMinute?: number
}

export type ToolContent = LabelsContent & {
  name?: string
  description?: string
  schema?: Record<string, unknown>
  schemaFile?: string
  idempotent?: boolean
  timeoutMs?: number
  poll?: boolean
  mutates?: boolean
  ignoreFields?: (string | undefined)[]
  loopKey?: (string | undefined)[]
  once?: true | OnceContent
  denial?: string
  concurrency?: number
  traceparent?: boolean
  command?: (string | undefined)[]
  cwd?: string
  environment?: (string | undefined)[]
  outputBytesMax?: number
  http?: HttpContent
  module?: string
  export?: string
  agent?: string
  client?: true
  sandbox?: SandboxContent
  /** Only in a program. */
  code?: ToolCode
}

/** The parts of a tool that are no data. `isolatedIn`: the file that exports the tool. */
export type ToolCode = Pick<Tool, 'check' | 'needsContext'> & {
  run?: FunctionTool['run']
  runsAgent?: string
  cancelAgent?: NonNullable<FunctionTool['cancelAgent']>
  isolatedIn?: string
}

export type HttpContent = {
  url?: string
  headers?: Record<string, string | undefined>
  outputBytesMax?: number
}
