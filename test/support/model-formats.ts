// The formats of the APIs of models, whole.

import { apiFormats, type ModelFormat, wholeFormat } from '../../shared/wire/formats.ts'

export const modelFormats: readonly ModelFormat[] = await Promise.all(apiFormats.map(wholeFormat))
