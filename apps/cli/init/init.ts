// `weir init`: writes the files of a folder in templates/. With the agent file comes its schema, which
// editors use to complete it. Where this machine can make no sandbox, the agent file gets `sandbox:
// off` with the reason. A name that ends in .template loses that ending: such a file is no source of
// Weir.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { providers } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { makeFolders } from '../../../shared/lib/files/make-folders.ts'
import { type Found, sandboxBackend } from '../../../shared/lib/sandbox/backend.ts'
import { version } from '../../../shared/lib/version.ts'
import { ownCommand } from '../../terminal/own-command.ts'
import { printable } from '../../terminal/text/printable.ts'
import { installSteps } from './install-steps.ts'
import type { TemplateName } from './template-names.ts'

const templates = fileURLToPath(new URL('templates', import.meta.url))
const schema = fileURLToPath(
  new URL('../../../shared/agents/file/agent.schema.json', import.meta.url),
)

/**
 * Creates the folder if it is missing. Keeps existing files. Throws `usage` if a file cannot be
 * written.
 */
export async function init(
  folder: string,
  template: TemplateName,
  environment: NodeJS.ProcessEnv,
  out: NodeJS.WriteStream,
): Promise<void> {
  const agent = agentNameOf(resolve(folder))
  for (const { name, source } of await filesToWrite(template)) {
    const file = join(folder, name)
    const wasThere = await copied(source, file, agent)
    out.write(
      `${wasThere ? 'kept     ' : 'written  '}${printable(file)}${wasThere ? ' (it exists)' : ''}\n`,
    )
  }
  out.write(next(folder, template, environment))
}

async function filesToWrite(name: TemplateName): Promise<{ name: string; source: string }[]> {
  const template = join(templates, name)
  const entries = await readdir(template, { recursive: true, withFileTypes: true })
  const sources = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const files = sources.map((source) => ({
    name: relative(template, source).replace(/\.template$/, ''),
    source,
  }))
  return [
    ...files.sort((a, b) => (a.name < b.name ? -1 : 1)),
    ...(name === 'agent-file' ? [{ name: 'agent.schema.json', source: schema }] : []),
  ]
}

/** True: the file existed and was kept. */
async function copied(source: string, file: string, agent: string): Promise<boolean> {
  try {
    makeFolders(dirname(file))
  } catch (error) {
    refuse(file, error as Error)
  }
  try {
    const text = (await readFile(source, 'utf8')).replace('WEIR_VERSION', version())
    await writeFile(file, withSandbox(withName(text, agent)), { flag: 'wx' })
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' || refuse(file, error as Error)
  }
}

/** The folder's name as the name of an agent. Without a letter or a digit in it: `agent`. */
function agentNameOf(folder: string): string {
  const words = basename(folder)
    .toLowerCase()
    .match(/[a-z0-9]+/g)
  return words?.join('-').slice(0, 64) ?? 'agent'
}

/** The text of a template, with the name of its agent. */
function withName(text: string, agent: string): string {
  return text
    .replace(/^name: starter$/m, `name: ${JSON.stringify(agent)}`)
    .replace("name: 'notes',", `name: '${agent}',`)
}

/** The text of a template, with the sandbox that this machine can make. */
export function withSandbox(text: string, found: Found = sandboxBackend()): string {
  if ('backend' in found) return text
  const off = `sandbox: off # this machine can make none (weir doctor says why): tools can do all that you can\n`
  return text.replace(/^sandbox: default\n/m, off)
}

function refuse(file: string, cause: NodeJS.ErrnoException): never {
  throw usageError(`cannot write ${file} (${cause.code}): name a folder that you may write to`, {
    cause,
  })
}

function next(folder: string, template: TemplateName, environment: NodeJS.ProcessEnv): string {
  const [{ keyVariable }] = providers
  // From the folder that the first step enters.
  const command = ownCommand(environment, resolve(folder))
  const steps = [
    ...(folder === '.'
      ? []
      : [`cd ${/^[\w./-]+$/.test(folder) ? folder : `'${printable(folder)}'`}`]),
    ...(environment[keyVariable]
      ? []
      : [
          `export ${keyVariable}=...   # or another model: see ${template === 'typescript' ? 'agent.ts' : 'agent.yaml'}`,
        ]),
    ...(template === 'typescript'
      ? [...installSteps(resolve(folder)), 'npm test', 'npm start -- "What do I have to buy?"']
      : [
          `${command} doctor --agent agent.yaml`,
          `${command} ask --agent agent.yaml "Which files are here, and what do they say?"`,
        ]),
  ]
  return `\nNext:\n${steps.map((step) => `  ${step}\n`).join('')}`
}
