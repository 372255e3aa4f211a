/*
 * The gRPC backend of the bench, over HTTP/2 with prior knowledge, on one thread, and cheaper than any proxy in front of it:
 *
 *   grpc-backend PORT
 *
 * It answers a message that begins with 's' a hundred times, each in a DATA frame of its own, any other message once, and a
 * request without a body with 128 bytes of JSON. Header blocks are skipped, never decoded. It trusts its clients: only for
 * loopback.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  IN_BYTES = 1 << 18,
  OUT_BYTES = 1 << 22,
  MAX_DESCRIPTORS = 4096,
  SLOTS = 1 << 13,         /* streams of a connection whose request is not complete, by number */
  MESSAGE_BYTES = 256,
  STREAM_LENGTH = 100,     /* as in grpc.ts */
  WINDOW = 0x3fffffff,
};
enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8 };

/* A request whose body is being read, or an answer that waits for the window of the connection. */
typedef struct {
  uint32_t id;
  int bytes;
  char message[MESSAGE_BYTES];
} Call;

typedef struct {
  int fd, in_bytes, is_writing;
  int has_preface;
  long window, taken;      /* of the connection: to be sent, and to be given back */
  uint32_t ended_by_head;  /* the stream whose HEADERS had END_STREAM, while its block goes on */
  long out_at, out_bytes;
  int first_waiting, waiting_count, waiting_room;
  Call *waiting;
  Call calls[SLOTS];
  unsigned char in[IN_BYTES];
  unsigned char out[OUT_BYTES];
} Connection;

static Connection *connections[MAX_DESCRIPTORS];
static int poller;

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/* :status 200, and literals without indexing. */
static const unsigned char grpc_head[] = "\x88\x0f\x10\x10" "application/grpc";
static const unsigned char grpc_trailers[] = "\x00\x0b" "grpc-status" "\x01" "0";
static const unsigned char json_head[] = "\x88\x0f\x10\x10" "application/json\x0f\x0d\x03" "128";
static char json[128];

static uint32_t uint32_at(const unsigned char *at) { return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }

static void put(Connection *c, const void *bytes, long n) {
  if (c->out_bytes + n > OUT_BYTES) {
    memmove(c->out, c->out + c->out_at, c->out_bytes - c->out_at);
    c->out_bytes -= c->out_at;
    c->out_at = 0;
    if (c->out_bytes + n > OUT_BYTES) {
      fprintf(stderr, "grpc-backend: a client does not read\n");
      exit(1);
    }
  }
  memcpy(c->out + c->out_bytes, bytes, n);
  c->out_bytes += n;
}

static void frame(Connection *c, int type, int flags, uint32_t id, const void *payload, int n) {
  unsigned char head[9] = {n >> 16, n >> 8, n, type, flags, id >> 24, id >> 16, id >> 8, id};
  put(c, head, 9);
  if (n > 0) put(c, payload, n);
}

static void frame_of(Connection *c, int type, uint32_t id, uint32_t value) {
  unsigned char payload[4] = {value >> 24, value >> 16, value >> 8, value};
  frame(c, type, 0, id, payload, 4);
}

static int flush_out(Connection *c) {
  while (c->out_at < c->out_bytes) {
    ssize_t n = write(c->fd, c->out + c->out_at, c->out_bytes - c->out_at);
    if (n < 0 && errno != EAGAIN) return -1;
    if (n < 0) break;
    c->out_at += n;
  }
  int is_rest = c->out_at < c->out_bytes;
  if (!is_rest) c->out_at = c->out_bytes = 0;
  if (is_rest != c->is_writing) {
    struct epoll_event event = {.events = EPOLLIN | (is_rest ? EPOLLOUT : 0), .data.fd = c->fd};
    epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
    c->is_writing = is_rest;
  }
  return 0;
}

static int messages_of(const Call *call) { return call->bytes > 5 && call->message[5] == 's' ? STREAM_LENGTH : 1; }

static void answer(Connection *c, const Call *call) {
  if (call->bytes == 0) {
    frame(c, HEADERS, END_HEADERS, call->id, json_head, sizeof json_head - 1);
    frame(c, DATA, END_STREAM, call->id, json, sizeof json);
    c->window -= sizeof json;
    return;
  }
  frame(c, HEADERS, END_HEADERS, call->id, grpc_head, sizeof grpc_head - 1);
  for (int count = messages_of(call); count > 0; count--) frame(c, DATA, 0, call->id, call->message, call->bytes);
  c->window -= (long)messages_of(call) * call->bytes;
  frame(c, HEADERS, END_HEADERS | END_STREAM, call->id, grpc_trailers, sizeof grpc_trailers - 1);
}

static int fits(const Connection *c, const Call *call) {
  long bytes = call->bytes == 0 ? (long)sizeof json : (long)messages_of(call) * call->bytes;
  return bytes <= c->window;
}

/* Answers in order; what does not fit into the window of the connection waits. */
static void complete(Connection *c, const Call *call) {
  if (c->waiting_count == 0 && fits(c, call)) return answer(c, call);
  if (c->first_waiting + c->waiting_count == c->waiting_room) {
    memmove(c->waiting, c->waiting + c->first_waiting, c->waiting_count * sizeof *c->waiting);
    c->first_waiting = 0;
    if (c->waiting_count == c->waiting_room) {
      c->waiting_room = c->waiting_room * 2 + 64;
      c->waiting = realloc(c->waiting, c->waiting_room * sizeof *c->waiting);
    }
  }
  c->waiting[c->first_waiting + c->waiting_count++] = *call;
}

static void answer_waiting(Connection *c) {
  while (c->waiting_count > 0 && fits(c, &c->waiting[c->first_waiting])) {
    answer(c, &c->waiting[c->first_waiting++]);
    c->waiting_count--;
  }
}

static Call *call_of(Connection *c, uint32_t id) {
  Call *call = &c->calls[(id >> 1) % SLOTS];
  if (call->id != id) {
    call->id = id;
    call->bytes = 0;
  }
  return call;
}

static void on_data(Connection *c, int flags, uint32_t id, const unsigned char *payload, int n) {
  Call *call = call_of(c, id);
  const unsigned char *content = payload;
  int bytes = n;
  if (flags & PADDED) {
    bytes -= 1 + content[0];
    content++;
  }
  if (bytes > MESSAGE_BYTES - call->bytes) bytes = MESSAGE_BYTES - call->bytes;
  if (bytes > 0) {
    memcpy(call->message + call->bytes, content, bytes);
    call->bytes += bytes;
  }
  c->taken += n;
  if (c->taken > WINDOW / 2) {
    frame_of(c, WINDOW_UPDATE, 0, c->taken);
    c->taken = 0;
  }
  if (flags & END_STREAM) complete(c, call);
}

static void on_frame(Connection *c, int type, int flags, uint32_t id, const unsigned char *payload, int n) {
  switch (type) {
    case DATA:
      on_data(c, flags, id, payload, n);
      return;
    case HEADERS:
      if (!(flags & END_STREAM)) return;
      if (flags & END_HEADERS) complete(c, call_of(c, id));
      else c->ended_by_head = id;
      return;
    case CONTINUATION:
      if (!(flags & END_HEADERS) || c->ended_by_head != id) return;
      c->ended_by_head = 0;
      complete(c, call_of(c, id));
      return;
    case SETTINGS:
      if (!(flags & ACK)) frame(c, SETTINGS, ACK, 0, NULL, 0);
      return;
    case PING:
      if (!(flags & ACK)) frame(c, PING, ACK, 0, payload, n);
      return;
    case WINDOW_UPDATE:
      if (id != 0) return;
      c->window += uint32_at(payload) & 0x7fffffff;
      answer_waiting(c);
      return;
  }
}

static int on_readable(Connection *c) {
  ssize_t n = read(c->fd, c->in + c->in_bytes, IN_BYTES - c->in_bytes);
  if (n <= 0) return n < 0 && errno == EAGAIN ? 0 : -1;
  c->in_bytes += n;
  int at = 0;
  if (!c->has_preface) {
    if (c->in_bytes < 24) return 0;
    if (memcmp(c->in, preface, 24) != 0) return -1;
    c->has_preface = 1;
    at = 24;
  }
  while (c->in_bytes - at >= 9) {
    const unsigned char *head = c->in + at;
    int length = head[0] << 16 | head[1] << 8 | head[2];
    if (length > IN_BYTES - 9) return -1;
    if (c->in_bytes - at - 9 < length) break;
    on_frame(c, head[3], head[4], uint32_at(head + 5) & 0x7fffffff, head + 9, length);
    at += 9 + length;
  }
  memmove(c->in, c->in + at, c->in_bytes - at);
  c->in_bytes -= at;
  return flush_out(c);
}

static void end(Connection *c) {
  connections[c->fd] = NULL;
  close(c->fd);
  free(c->waiting);
  free(c);
}

static void accept_all(int listener) {
  const int on = 1;
  /* 1000 streams at a time, each with a window of 1 MiB. */
  static const unsigned char settings[] = {0, 3, 0, 0, 0x03, 0xe8, 0, 4, 0, 0x10, 0, 0};
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    if (fd >= MAX_DESCRIPTORS) {
      close(fd);
      continue;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    c->window = 65535;
    connections[fd] = c;
    frame(c, SETTINGS, 0, 0, settings, sizeof settings);
    frame_of(c, WINDOW_UPDATE, 0, WINDOW);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
    if (flush_out(c) < 0) end(c);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  memset(json, 'a', sizeof json);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (void *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) {
    perror("grpc-backend");
    return 1;
  }
  poller = epoll_create1(0);
  struct epoll_event own = {.events = EPOLLIN, .data.fd = listener}, events[512];
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &own);
  for (;;) {
    int n = epoll_wait(poller, events, 512, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        accept_all(listener);
        continue;
      }
      Connection *c = connections[fd];
      if (c == NULL) continue;
      int result = events[i].events & EPOLLOUT ? flush_out(c) : 0;
      if (result >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) result = on_readable(c);
      if (result < 0) end(c);
    }
  }
}
