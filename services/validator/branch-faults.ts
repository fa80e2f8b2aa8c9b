// Sorts the errors of a choice (anyOf, oneOf). Ajv reports the errors of all branches together: the
// value must be a string, and also a number. The model needs less: the accepted types, or the
// errors of the one intended branch. Errors of branches after a `$ref` stay as they are.

import type { ErrorObject } from 'ajv'

/** More do not fit into a directive. There may be a choice for each of thousands of items. */
const choicesMax = 8
/** More errors are not sorted: nested choices have an error for each path through them. */
const errorsMax = 2_048

/**
 * The errors without those of unintended branches, and without the errors that only name another
 * one.
 */
export function withoutOtherBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  if (errors.length > errorsMax) return [...errors]
  const choices = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .slice(0, choicesMax)
  let kept = errors.filter(({ keyword }) => keyword !== 'if')
  for (const choice of choices) {
    const branches = branchesOf(choice, kept)
    const types = typesOf(choice, branches)
    const intended =
      types === undefined
        ? branches.filter((branch) => !branch.some((error) => isOfAnother(choice, error)))
        : []
    if (types === undefined && intended.length === 0) continue
    const others = new Set(branches.filter((branch) => !intended.includes(branch)).flat())
    kept = kept
      .filter((error) => !others.has(error))
      .map((error) => (error === choice && types !== undefined ? ofTypes(error, types) : error))
  }
  return kept.length > 0 ? kept : [...errors]
}

function ofTypes(choice: ErrorObject, types: string[]): ErrorObject {
  return {
    ...choice,
    keyword: 'type',
    params: { type: types },
    message: `must be ${types.join(' or ')}`,
  }
}

/** The errors of each branch that has any. */
function branchesOf(choice: ErrorObject, errors: readonly ErrorObject[]): ErrorObject[][] {
  const branches = new Map<string, ErrorObject[]>()
  const prefix = `${choice.schemaPath}/`
  for (const error of errors) {
    if (
      !error.schemaPath.startsWith(prefix) ||
      !`${error.instancePath}/`.startsWith(`${choice.instancePath}/`)
    )
      continue
    const number = error.schemaPath.slice(prefix.length).split('/', 1)[0] ?? ''
    const branch = branches.get(number)
    if (branch === undefined) branches.set(number, [error])
    else branch.push(error)
  }
  return [...branches.values()]
}

/** All accepted types, if each branch fails only on the type of the value itself. */
function typesOf(
  { schema, instancePath }: ErrorObject,
  branches: ErrorObject[][],
): string[] | undefined {
  if (!Array.isArray(schema) || branches.length < schema.length) return undefined
  const errors = branches.flat()
  if (!errors.every((error) => error.keyword === 'type' && error.instancePath === instancePath))
    return undefined
  return [...new Set(errors.flatMap(({ params }) => String(params.type).split(',')))]
}

/**
 * The value has another type than the branch accepts, or its discriminator has another constant.
 */
function isOfAnother(choice: ErrorObject, { keyword, instancePath }: ErrorObject): boolean {
  return instancePath === choice.instancePath ? keyword === 'type' : keyword === 'const'
}
