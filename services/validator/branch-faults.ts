// What Ajv says of a choice (anyOf, oneOf) is the sum of what is wrong for each branch: told as it
// is, a model reads that a value must be a string, and also a number. Here it becomes what the
// model has to know: the types that would do, or what is wrong for the one branch that the value is
// meant for. Branches behind a `$ref` are not followed: their errors stay as they are.

import type { ErrorObject } from 'ajv'

/** More than can be told; there may be a choice for each of thousands of items. */
const choicesMax = 8
/** More are not sorted out: a choice of choices has an error for each way through it. */
const errorsMax = 2_048

/**
 * The errors without those of branches that the value is not meant for, and without what only says
 * that one of the others is to be heard.
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
    const meant =
      types === undefined
        ? branches.filter((branch) => !branch.some((error) => isOfAnother(choice, error)))
        : []
    if (types === undefined && meant.length === 0) continue
    const others = new Set(branches.filter((branch) => !meant.includes(branch)).flat())
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

/**
 * Where all that is wrong for each branch is the type of the value itself: all types that would do.
 */
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
 * Another type than the value has, or another value of the member that tells the branches apart.
 */
function isOfAnother(choice: ErrorObject, { keyword, instancePath }: ErrorObject): boolean {
  return instancePath === choice.instancePath ? keyword === 'type' : keyword === 'const'
}
