import { fieldTag, isPseudo } from "../../../http2/field-tags.ts";
import type { FieldSink } from "../../../http2/hpack/decoder.ts";
import type { HpackField } from "../../../http2/hpack/hpack-field.ts";
import { type Priority, readPriority } from "../../../http2/priority.ts";
import { type HeadLimits, type ReceivedHead, refusalOf } from "../request-head.ts";
import { ListedLines } from "../../../message/listed-lines.ts";
import type { RepeatedLines } from "../../../message/repeated-lines.ts";
import { isGrpc } from "../../request-fields.ts";

export type ReceivedRequest = ReceivedHead & {
  /** True for extended CONNECT with a WebSocket (RFC 8441), whose content is that of a tunnel. */
  readonly isWebSocket: boolean;
  /** The priority of the Priority field; undefined if the field is absent or malformed. */
  readonly priority: Priority | undefined;
};

/**
 * Receives the decoded fields of one request, and checks that they form a valid request (RFC 9113 8.1 to 8.3). Fields
 * arrive one by one, so that a list beyond the limits can be read to its end without being kept. Reused for the next
 * request.
 */
export class RequestFields implements FieldSink {
  private readonly headers = new ListedLines();
  private method = "";
  private path: string | undefined = undefined;
  private authority: string | undefined = undefined;
  private scheme: string | undefined = undefined;
  private protocol: string | undefined = undefined;
  private length: string | undefined = undefined;
  private priority: string | undefined = undefined;
  private hasHost = false;
  private isGrpc = false;
  private hasCookie = false;
  private fields = 0;
  private listBytes = 0;
  private isMalformed = false;
  private hasBadAddress = false;
  private hasFields = false;
  private maxBytes = 0;

  begin(limits: HeadLimits): void {
    this.headers.begin();
    this.method = "";
    this.path = undefined;
    this.authority = undefined;
    this.scheme = undefined;
    this.protocol = undefined;
    this.length = undefined;
    this.priority = undefined;
    this.hasHost = false;
    this.isGrpc = false;
    this.hasCookie = false;
    this.fields = 0;
    this.listBytes = 0;
    this.isMalformed = false;
    this.hasBadAddress = false;
    this.hasFields = false;
    this.maxBytes = limits.maxHeaderBytes;
  }

  onField(field: HpackField): void {
    const { tag, size } = field;
    this.listBytes += size;
    if (tag === fieldTag.plain) this.add(field);
    else if (isPseudo(tag)) this.addPseudo(field.value, tag);
    else this.addNamed(field);
  }

  private addPseudo(value: string, tag: number): void {
    if (this.hasFields) this.isMalformed = true;
    switch (tag) {
      case fieldTag.method:
        if (this.method !== "") this.isMalformed = true;
        this.method = value;
        return;
      case fieldTag.path:
        if (this.path !== undefined) this.isMalformed = true;
        this.path = value;
        return;
      case fieldTag.authority:
        if (this.authority !== undefined) this.isMalformed = true;
        this.authority = value;
        return;
      case fieldTag.scheme:
        if (this.scheme !== undefined) this.isMalformed = true;
        this.scheme = value;
        return;
      default:
        if (this.protocol !== undefined) this.isMalformed = true;
        this.protocol = value;
    }
  }

  private addNamed(field: HpackField): void {
    const { value } = field;
    switch (field.tag) {
      case fieldTag.cookie:
        return this.addCookie(field);
      case fieldTag.contentLength:
        if (this.length !== undefined) this.isMalformed = true;
        this.length = value;
        break;
      case fieldTag.contentType:
        this.isGrpc = isGrpc(value);
        break;
      case fieldTag.priority:
        this.priority = this.priority === undefined ? value : this.joined(this.priority, value);
        break;
      case fieldTag.host:
        if (this.hasHost) this.hasBadAddress = true;
        this.hasHost = true;
        break;
      case fieldTag.badAuthority:
        this.hasBadAddress = true;
        if (field.name === ":authority") return this.addPseudo(value, fieldTag.authority);
        this.hasHost = true;
        break;
      default:
        this.isMalformed = true;
        return;
    }
    this.add(field);
  }

  /** Joins the lines of a field into one list (RFC 9110 5.3). Beyond the limit of a head, lines are not kept. */
  private joined(before: string, value: string): string {
    return this.listBytes <= this.maxBytes ? `${before}, ${value}` : before;
  }

  private addCookie(field: HpackField): void {
    this.hasFields = true;
    // The pieces of a split Cookie count as one field.
    if (!this.hasCookie) this.fields++;
    this.hasCookie = true;
    if (this.listBytes <= this.maxBytes) this.headers.addCookie(field);
  }

  private add(field: HpackField): void {
    this.hasFields = true;
    this.fields++;
    if (this.listBytes <= this.maxBytes) this.headers.add(field);
  }

  /**
   * Returns the request; undefined if it is malformed. `endStream` means that it has no body; `last` has the fields of
   * the previous request on the same connection.
   */
  finish(limits: HeadLimits, endStream: boolean, last: RepeatedLines): ReceivedRequest | undefined {
    const { headers, path, authority, scheme, length, listBytes, fields } = this;
    if (this.isMalformed || !this.hasPseudoFields()) return undefined;
    const contentLength = length === undefined ? undefined : Number(length);
    if (endStream && length !== undefined && contentLength !== 0) return undefined;
    // The counterpart of this CONNECT on HTTP/1.1 is a GET (RFC 8441 5).
    const isWebSocket = this.protocol === "websocket";
    const method = isWebSocket ? "GET" : this.method;
    const target = path ?? authority ?? "";
    return {
      // Each field was checked when it was decoded, by rules that are at least as strict as those of HTTP/1.
      head: {
        version: "2.0",
        method,
        target,
        authority,
        scheme,
        headers: headers.finish(last),
      },
      contentLength,
      grpc: this.isGrpc,
      listBytes,
      isWebSocket,
      priority: this.priority === undefined ? undefined : (readPriority(this.priority) ?? undefined),
      refusal: this.lacksAddress()
        ? "malformed"
        : refusalOf(limits, { target, contentLength, listBytes, fields }),
    };
  }

  /**
   * Reports a missing, repeated or invalid host. Such a request is answered, as on HTTP/1 (RFC 9112 3.2, RFC 9113
   * 8.1.1).
   */
  private lacksAddress(): boolean {
    return this.hasBadAddress || (this.authority === undefined && !this.hasHost);
  }

  private hasPseudoFields(): boolean {
    const { method, path, authority, scheme, protocol } = this;
    if (protocol !== undefined && (method !== "CONNECT" || this.length !== undefined)) return false;
    if (method === "CONNECT" && protocol === undefined)
      return authority !== undefined && path === undefined && scheme === undefined;
    if (method === "" || path === undefined || scheme === undefined) return false;
    return path.startsWith("/") || (path === "*" && method === "OPTIONS");
  }
}
