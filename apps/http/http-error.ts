// An error that a route answers with: its status, a code for programs, and a text for people.

export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 413
  | 415
  | 422
  | 426
  | 429
  | 500
  | 502
  | 503
  | 504

type HttpErrorOptions = ErrorOptions & {
  headers?: Record<string, string>
  type?: string
  fields?: object
  body?: object
}

export class HttpError extends Error {
  readonly status: ErrorStatus
  readonly code: string
  /** Of the answer, next to those of its body. */
  readonly headers: Record<string, string>
  /** The type of the error in a provider's API. Undefined: the code is its type. */
  readonly type: string | undefined
  /** Further fields of the error, for programs. */
  readonly fields: object
  /** The whole body, in the form of another API. */
  readonly body: object | undefined

  constructor(
    status: ErrorStatus,
    code: string,
    message: string,
    { headers = {}, type, fields = {}, body, ...options }: HttpErrorOptions = {},
  ) {
    super(message, options)
    this.name = 'HttpError'
    this.status = status
    this.code = code
    this.headers = headers
    this.type = type
    this.fields = fields
    this.body = body
  }
}

/** The same error with more fields. */
export function withFields(error: HttpError, more: object): HttpError {
  const { status, code, message, headers, type, fields, cause } = error
  return new HttpError(status, code, message, {
    headers,
    cause,
    ...(type !== undefined && { type }),
    fields: { ...fields, ...more },
  })
}

/** The form of both Anthropic's and OpenAI's errors: SDKs of both show the message. */
export function errorBody({ code, type = code, message, fields, body }: HttpError): object {
  return body ?? { type: 'error', error: { type, code, message, param: null, ...fields } }
}

/** For a body that cannot be used. */
export function bad(message: string, options?: ErrorOptions): HttpError {
  return new HttpError(400, 'http.body', message, options)
}
