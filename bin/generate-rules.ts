// Generator: writes the texts about rules, thresholds and providers into the two files that must be
// on disk. Editors and `weir init` use the agent file's schema.
//
//   node bin/generate-rules.ts             writes both files
//   node bin/generate-rules.ts --check     writes nothing; exit code 1 names each file that differs
//
// Owns: `loop`, `empty`, the providers and their options in shared/agents/file/agent.schema.json, the table of
// docs/guard/policies.md. Does not own: any other line of these files.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { providers } from '../services/llm-gateway/performer/providers/providers.ts'
import { rules } from '../services/loop-detector/rules.ts'
import { thresholds } from '../shared/contract/thresholds.ts'
import { type GeneratedFile, root, writeOrCheck } from './generated-file.ts'

/** Both files, with the text that the records of rules and thresholds require. */
export function ruleFiles(): GeneratedFile[] {
  const fileOf = (path: string, generate: (text: string) => string): GeneratedFile => {
    const text = readFileSync(join(root, path), 'utf8')
    return { path, text, generated: generate(text) }
  }
  return [
    fileOf('shared/agents/file/agent.schema.json', withSettings),
    fileOf('docs/guard/policies.md', withTable),
  ]
}

// ── The schema of agent files ──

type Property = Record<string, unknown>

function withSettings(schema: string): string {
  const modes = rules.map(({ name, description }): [string, Property] => [
    name,
    { description, enum: ['enforce', 'shadow'], default: 'enforce' },
  ])
  const inLoop = withProperties(schema, 'loop', propertiesOf(thresholds.loop), { endsAt: 'rules' })
  const inRules = withProperties(inLoop, 'rules', modes, { indent: 8 })
  return withProviders(withProperties(inRules, 'empty', propertiesOf(thresholds.empty)))
}

/** The names of the providers, their variables in the description of `apiKey`, and their options. */
function withProviders(schema: string): string {
  const names = providers.map(({ name }) => `"${name}"`).join(', ')
  const variables = [...new Set(providers.map(({ keyVariable }) => `\${${keyVariable}}`))]
  return withOptions(schema)
    .replace(/("provider": \{\n.*\n.*\n *"enum": \[).*\]/, (_, start) => `${start}${names}]`)
    .replace(
      /("apiKey": \{\n.*? Default: ).*?(; with baseUrl)/,
      (_, start, end) => `${start}${variables.join(' or ')}${end}`,
    )
}

/** The options of a model that not every provider has, with the values of each provider. */
function withOptions(schema: string): string {
  const byProvider = (option: 'reasoningEffort' | 'serviceTier') =>
    Object.entries(Object.groupBy(providers, ({ accepts }) => accepts[option].join(', ')))
      .map(([values, group = []]) => `${group.map(({ name }) => name).join(', ')}: ${values}.`)
      .join(' ')
  const seeded = providers.filter(({ accepts }) => accepts.seed).map(({ name }) => name)
  const tiers = [...new Set(providers.flatMap(({ accepts }) => accepts.serviceTier))]
  return schema
    .replace(/(before it answers\.).*?( Default)/, `$1 ${byProvider('reasoningEffort')}$2`)
    .replace(/(class of service\.).*?( Default)/, `$1 ${byProvider('serviceTier')}$2`)
    .replace(
      /("serviceTier": \{\n.*\n.*\n *"enum": )\[[^\]]*\]/,
      `$1[\n${tiers.map((tier) => `            "${tier}"`).join(',\n')}\n          ]`,
    )
    .replace(/(repeatable sampling, for ).*? only/, `$1${seeded.join(' and ')} only`)
}

function propertiesOf(section: object): [string, Property][] {
  return Object.entries(section).map(([name, { description, default: value, min, max }]) => {
    const type =
      typeof value === 'boolean'
        ? { type: 'boolean' }
        : { type: 'integer', minimum: min, maximum: max }
    return [name, { description, ...type, default: value }]
  })
}

/**
 * The schema with these properties in the mapping of that name. `endsAt`: the next property of the
 * mapping, which stays. `indent`: of the mapping's own line.
 */
function withProperties(
  schema: string,
  mapping: string,
  properties: [string, Property][],
  { endsAt, indent = 4 }: { endsAt?: string; indent?: number } = {},
): string {
  const margin = ' '.repeat(indent)
  const begin = schema.indexOf(`\n${margin}"${mapping}": {\n`)
  const opening = `\n${margin}  "properties": {\n`
  const from = schema.indexOf(opening, begin) + opening.length
  const closing = endsAt === undefined ? `\n${margin}  }\n` : `,\n${margin}    "${endsAt}": {\n`
  const to = schema.indexOf(closing, from)
  if (begin < 0 || from < opening.length || to < 0)
    throw new Error(`agent.schema.json has no mapping '${mapping}' with properties`)
  const lines = properties.map(([name, property]) => printed(name, property, `${margin}    `))
  return schema.slice(0, from) + lines.join(',\n') + schema.slice(to)
}

/** In the formatter's style: lists are on one line. */
function printed(name: string, property: Property, margin: string): string {
  const members = Object.entries(property).map(([key, value]) => {
    const text = JSON.stringify(value).replaceAll('","', '", "')
    return `${margin}  "${key}": ${text}`
  })
  return `${margin}"${name}": {\n${members.join(',\n')}\n${margin}}`
}

// ── The table of the page ──

function withTable(page: string): string {
  const rows = rules.map(
    ({ name, firesWhen, endedBy, thresholds: own }) =>
      `| \`${name}\` | ${firesWhen} | ${endedBy} | ${own.map((key) => `\`${key}\``).join(', ') || 'none'} |`,
  )
  return page.replace(/(\n\| --- .*\n)(?:\|.*\n)*/, (_, rule) => `${rule}${rows.join('\n')}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeOrCheck(ruleFiles())
