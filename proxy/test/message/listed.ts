import type { Fields } from "../../src/message/fields.ts";
import type { HeaderList } from "../../src/message/message.ts";

/** A message whose fields are a list, which tests compare. */
export type Listed<Message extends { readonly headers: Fields }> = Omit<Message, "headers"> & {
  readonly headers: HeaderList;
};

export const listed = <Message extends { readonly headers: Fields }>(message: Message): Listed<Message> => ({
  ...message,
  headers: [...message.headers.toList()],
});
