/** An answer of an admin or health port. */
export type AdminAnswer = {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
  /** Value of `WWW-Authenticate`. */
  readonly challenge?: string;
};

/** A JSON answer. */
export const jsonAnswer = (value: unknown, status: number = 200): AdminAnswer => ({
  status,
  contentType: "application/json; charset=utf-8",
  body: JSON.stringify(value),
});

/** A plain-text answer. */
export const textAnswer = (body: string, status: number = 200): AdminAnswer => ({
  status,
  contentType: "text/plain; charset=utf-8",
  body,
});
