// Generator: writes the texts about rules, thresholds and providers into the two files that must be
// on disk. Editors and `weir init` use the agent file's schema.
//
//   node bin/generate-rules.ts             writes both files
//   node bin/generate-rules.ts --check     writes nothing; exit code 1 names each file that differs
//
// Owns: `loop`, `empty` and the providers in shared/agents/file/agent.schema.json, the table of
// docs/guard/policies.md. Does not own: any other line of these files.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { providers } from '../services/llm-gateway/performer/providers/providers.ts'
import { rules } from '../services/loop-detector/rules.ts'
import { thresholds } from '../shared/contract/thresholds.ts'

export type RuleFile = { path: string; text: string; generated: string }

/**
 * Both files under `root`: their text now, and the text that the records of rules and thresholds
 * require.
 */
export function ruleFiles(root: string): RuleFile[] {
  const fileOf = (path: string, generate: (text: string) => string): RuleFile => {
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

/** The names of the providers, and their variables in the description of `apiKey`. */
function withProviders(schema: string): string {
  const names = providers.map(({ name }) => `"${name}"`).join(', ')
  const variables = [...new Set(providers.map(({ keyVariable }) => `\${${keyVariable}}`))]
  return schema
    .replace(/("provider": \{\n.*\n.*\n *"enum": \[).*\]/, (_, start) => `${start}${names}]`)
    .replace(
      /("apiKey": \{\n.*? Default: ).*?(; with baseUrl)/,
      (_, start, end) => `${start}${variables.join(' or ')}${end}`,
    )
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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(import.meta.dirname, '..')
  const differing = ruleFiles(root).filter(({ text, generated }) => text !== generated)
  const isCheck = process.argv.includes('--check')
  for (const { path, generated } of differing)
    if (isCheck) console.error(`${path} differs from the rules: run \`make schemas\``)
    else writeFileSync(join(root, path), generated)
  process.exitCode = isCheck && differing.length > 0 ? 1 : 0
}
