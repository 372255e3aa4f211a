/** Lists Ingresses that reports cannot cover because their manifests are not valid, so that they are not missed. */
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { formatPlace, type Place } from "@svc-gateway/operator/sources/files/place.ts";
import { markdownCell } from "./markdown-cell.ts";
import type { Paint } from "./paint.ts";

/** An Ingress that is not read, with the reason. */
export type UnreadIngress = Place & {
  /** The name of the Ingress; absent if the manifest does not specify it. */
  readonly ingress?: string;
  readonly message: string;
};

/** The unread Ingresses, in the order of files and of the text. */
export const unreadIngresses = ({ problems }: Pick<FolderState, "problems">): readonly UnreadIngress[] =>
  problems.flatMap(({ severity, object, file, line = 1, column = 1, message }) => {
    if (severity !== "error" || (object !== undefined && object.kind !== "Ingress")) return [];
    const { namespace, name } = object ?? {};
    const ingress = namespace === undefined ? name : `${namespace}/${name}`;
    return [{ ...(ingress !== undefined && { ingress }), file, line, column, message }];
  });

const nameOf = ({ ingress = "without a name" }: UnreadIngress): string => `Ingress ${ingress}`;

/** Formats a block of lines; none if all Ingresses are read. */
export const formatUnread = (
  unread: readonly UnreadIngress[],
  title: string,
  paint: Paint,
): readonly (readonly string[])[] =>
  unread.length === 0
    ? []
    : [
        [
          paint.bold(title),
          ...unread.flatMap((one) => [
            `  ${nameOf(one)}  ${paint.dim(formatPlace(one))}`,
            `           ${one.message}`,
          ]),
        ],
      ];

/** Formats a Markdown list with a title; empty if all Ingresses are read. */
export const formatUnreadMarkdown = (unread: readonly UnreadIngress[], title: string): string =>
  unread.length === 0
    ? ""
    : `\n${title}:\n\n${unread.map((one) => `- ${markdownCell(`${nameOf(one)} (${formatPlace(one)}): ${one.message}`)}`).join("\n")}\n`;
