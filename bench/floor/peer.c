// A SignalR hub reduced to what an echo needs, as cheap as it can be: so that one machine has room for a generator beside it.
// Each process has one thread, epoll, one buffer for all sockets, and a listener of its own on the one port (SO_REUSEPORT):
// the system spreads connections over them. Of an invocation the bytes of its arguments go back; nothing is parsed.
//
//   peer PROCESSES
//
// Prints its URL and the ids of its processes as JSON, and ends when its standard input does. Linux, loopback only.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { bufferBytes = 1024 * 1024, keptMost = 256 * 1024, waitingMost = 4 * 1024 * 1024, mostProcesses = 64 };

typedef struct {
  int fd, upgraded, shaken, packed;
  // Begin of what has not come whole, and what the socket has not taken.
  uint32_t keptBytes, waitingBytes;
  uint8_t *kept, *waiting;
} Connection;

static int poller;
static uint8_t input[keptMost + bufferBytes], output[2 * (keptMost + bufferBytes)];
static size_t outputBytes;

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static void end(Connection *connection) {
  close(connection->fd);
  free(connection->kept);
  free(connection->waiting);
  free(connection);
}

static void put(const void *bytes, size_t count) {
  memcpy(output + outputBytes, bytes, count);
  outputBytes += count;
}

static void putHead(int opcode, size_t bytes) {
  uint8_t *head = output + outputBytes;
  head[0] = (uint8_t)(0x80 | opcode);
  if (bytes < 126) {
    head[1] = (uint8_t)bytes;
    outputBytes += 2;
  } else if (bytes < 65536) {
    head[1] = 126;
    head[2] = (uint8_t)(bytes >> 8);
    head[3] = (uint8_t)bytes;
    outputBytes += 4;
  } else {
    head[1] = 127;
    for (int byte = 0; byte < 8; byte++) head[2 + byte] = (uint8_t)((uint64_t)bytes >> (56 - 8 * byte));
    outputBytes += 10;
  }
}

// SHA-1 of one short text (RFC 3174), for the answer to an upgrade.
static void sha1(const uint8_t *text, size_t bytes, uint8_t digest[20]) {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  uint8_t blocks[128] = {0};
  size_t count = bytes + 9 > 64 ? 2 : 1;
  memcpy(blocks, text, bytes);
  blocks[bytes] = 0x80;
  for (int byte = 0; byte < 4; byte++) blocks[count * 64 - 4 + byte] = (uint8_t)((bytes * 8) >> (24 - 8 * byte));
  for (size_t block = 0; block < count; block++) {
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 80; t++) {
      if (t < 16) {
        const uint8_t *at = blocks + block * 64 + t * 4;
        w[t] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
      } else {
        uint32_t x = w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16];
        w[t] = x << 1 | x >> 31;
      }
      uint32_t f = t < 20 ? (b & c) | (~b & d) : t < 40 ? b ^ c ^ d : t < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
      uint32_t k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
      uint32_t next = (a << 5 | a >> 27) + f + e + k + w[t];
      e = d;
      d = c;
      c = b << 30 | b >> 2;
      b = a;
      a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  for (int byte = 0; byte < 20; byte++) digest[byte] = (uint8_t)(h[byte / 4] >> (24 - 8 * (byte % 4)));
}

static void base64(const uint8_t *bytes, size_t count, char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t at = 0; at < count; at += 3) {
    uint32_t three = (uint32_t)bytes[at] << 16;
    if (at + 1 < count) three |= (uint32_t)bytes[at + 1] << 8;
    if (at + 2 < count) three |= bytes[at + 2];
    for (int digit = 0; digit < 4; digit++)
      *text++ = at + (size_t)digit <= count ? digits[three >> (18 - 6 * digit) & 63] : '=';
  }
  *text = 0;
}

// Length of the upgrade request at the start, 0 when it has not come whole, −1 when it is none.
static long upgrade(const uint8_t *from, size_t bytes) {
  uint8_t *last = memmem(from, bytes, "\r\n\r\n", 4);
  if (last == NULL) return bytes > 16384 ? -1 : 0;
  char head[16384 + 8], answer[256], accept[32], text[96];
  size_t length = (size_t)(last - from) + 4;
  if (length >= sizeof head) return -1;
  memcpy(head, from, length);
  head[length] = 0;
  char *key = strcasestr(head, "sec-websocket-key:");
  if (key == NULL) return -1;
  key += 18 + strspn(key + 18, " ");
  size_t keyBytes = strcspn(key, "\r ");
  if (keyBytes > 32) return -1;
  // RFC 6455, section 1.3.
  size_t textBytes = (size_t)sprintf(text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)keyBytes, key);
  uint8_t digest[20];
  sha1((uint8_t *)text, textBytes, digest);
  base64(digest, sizeof digest, accept);
  put(answer, (size_t)sprintf(answer,
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n", accept));
  return (long)length;
}

// Who hears nothing for half a minute gives a hub up: a ping is answered by one.
static void answerText(const uint8_t *message, size_t bytes) {
  static const char ping[] = "{\"type\":6}\x1e";
  if (bytes == sizeof ping - 2 && memcmp(message, ping, bytes) == 0) {
    putHead(1, sizeof ping - 1);
    put(ping, sizeof ping - 1);
    return;
  }
  static const char start[] = "{\"type\":1,\"target\":\"RecordLatency\",\"arguments\":", key[] = "\"arguments\":";
  const uint8_t *from = memmem(message, bytes < 256 ? bytes : 256, key, sizeof key - 1);
  const uint8_t *to = memrchr(message, ']', bytes);
  if (from == NULL || to == NULL || to < from) return;
  from += sizeof key - 1;
  size_t length = (size_t)(to + 1 - from);
  putHead(1, sizeof start - 1 + length + 2);
  put(start, sizeof start - 1);
  put(from, length);
  put("}\x1e", 2);
}

// [1, {}, nil, method, arguments] and perhaps [] behind it.
static void answerPacked(const uint8_t *message, size_t bytes) {
  static const char start[] = "\x96\x01\x80\xc0\xadRecordLatency";
  if (bytes == 2 && message[1] == 6) {
    putHead(2, 3);
    put("\x02\x91\x06", 3);
    return;
  }
  if (bytes < 8 || message[1] != 1) return;
  const uint8_t *from = message + 5 + (message[4] & 0x1f), *to = message + bytes - (message[0] == 0x96 ? 1 : 0);
  if (to <= from) return;
  size_t body = sizeof start - 1 + (size_t)(to - from) + 1;
  uint8_t prefix[5];
  size_t prefixBytes = 0;
  for (size_t rest = body; ; rest >>= 7) {
    prefix[prefixBytes++] = (uint8_t)(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) break;
  }
  putHead(2, prefixBytes + body);
  put(prefix, prefixBytes);
  put(start, sizeof start - 1);
  put(from, (size_t)(to - from));
  put("\x90", 1);
}

static void messages(Connection *connection, const uint8_t *at, const uint8_t *last) {
  while (at < last) {
    if (connection->shaken && connection->packed) {
      size_t length = 0;
      for (int shift = 0; at < last; shift += 7) {
        length |= (size_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80 || shift > 28) break;
      }
      if (length > (size_t)(last - at)) return;
      answerPacked(at, length);
      at += length;
      continue;
    }
    const uint8_t *stop = memchr(at, 0x1e, (size_t)(last - at));
    if (stop == NULL) return;
    if (connection->shaken) {
      answerText(at, (size_t)(stop - at));
    } else {
      connection->shaken = 1;
      connection->packed = memmem(at, (size_t)(stop - at), "messagepack", 11) != NULL;
      putHead(connection->packed ? 2 : 1, 3);
      put("{}\x1e", 3);
    }
    at = stop + 1;
  }
}

static void unmask(uint8_t *payload, size_t bytes, const uint8_t *mask) {
  uint32_t four;
  memcpy(&four, mask, 4);
  uint64_t eight = (uint64_t)four << 32 | four, word;
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    memcpy(&word, payload + at, 8);
    word ^= eight;
    memcpy(payload + at, &word, 8);
  }
  for (; at < bytes; at++) payload[at] ^= mask[at & 3];
}

// Bytes of the frame at the start; 0 when it has not come whole, −1 when the connection is over.
static long frame(Connection *connection, uint8_t *at, size_t bytes) {
  if (bytes < 6) return 0;
  size_t length = at[1] & 0x7f, head = 2;
  if (length == 126) {
    length = (size_t)at[2] << 8 | at[3];
    head = 4;
  } else if (length == 127) {
    if (bytes < 14) return 0;
    length = 0;
    for (int byte = 0; byte < 8; byte++) length = length << 8 | at[2 + byte];
    head = 10;
  }
  int opcode = at[0] & 0x0f;
  if ((at[1] & 0x80) == 0 || (at[0] & 0x80) == 0 || length > keptMost - 64) return -1;
  if (bytes < head + 4 + length) return 0;
  uint8_t *payload = at + head + 4;
  unmask(payload, length, at + head);
  if (opcode == 8) return -1;
  if (opcode == 9) {
    putHead(10, length);
    put(payload, length);
  } else if (opcode == 1 || opcode == 2) {
    messages(connection, payload, payload + length);
  }
  return (long)(head + 4 + length);
}

static void watch(Connection *connection, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  if (epoll_ctl(poller, operation, connection->fd, &event) != 0) die("epoll_ctl");
}

// Sends what stands in the output, or keeps what the socket does not take; 0 when the connection is over.
static int sendOutput(Connection *connection) {
  size_t sent = 0;
  if (connection->waitingBytes == 0 && outputBytes > 0) {
    ssize_t wrote = write(connection->fd, output, outputBytes);
    if (wrote < 0 && errno != EAGAIN) return 0;
    if (wrote > 0) sent = (size_t)wrote;
  }
  size_t rest = outputBytes - sent;
  if (rest == 0) return 1;
  if (connection->waitingBytes + rest > waitingMost) return 0;
  if (connection->waitingBytes == 0) watch(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
  connection->waiting = realloc(connection->waiting, connection->waitingBytes + rest);
  memcpy(connection->waiting + connection->waitingBytes, output + sent, rest);
  connection->waitingBytes += (uint32_t)rest;
  return 1;
}

static int sendWaiting(Connection *connection) {
  ssize_t wrote = write(connection->fd, connection->waiting, connection->waitingBytes);
  if (wrote < 0) return errno == EAGAIN;
  connection->waitingBytes -= (uint32_t)wrote;
  memmove(connection->waiting, connection->waiting + wrote, connection->waitingBytes);
  if (connection->waitingBytes == 0) {
    free(connection->waiting);
    connection->waiting = NULL;
    watch(connection, EPOLL_CTL_MOD, EPOLLIN);
  }
  return 1;
}

// 0 when the connection is over.
static int readSome(Connection *connection) {
  uint8_t *at = input + keptMost - connection->keptBytes;
  ssize_t got = read(connection->fd, input + keptMost, bufferBytes);
  if (got <= 0) return got < 0 && errno == EAGAIN;
  uint8_t *last = input + keptMost + got;
  if (connection->keptBytes > 0) {
    memcpy(at, connection->kept, connection->keptBytes);
    free(connection->kept);
    connection->kept = NULL;
    connection->keptBytes = 0;
  }
  outputBytes = 0;
  while (at < last) {
    long used = connection->upgraded ? frame(connection, at, (size_t)(last - at)) : upgrade(at, (size_t)(last - at));
    if (used < 0) return 0;
    if (used == 0) break;
    connection->upgraded = 1;
    at += used;
  }
  if (at < last) {
    connection->keptBytes = (uint32_t)(last - at);
    if (connection->keptBytes > keptMost) return 0;
    connection->kept = malloc(connection->keptBytes);
    memcpy(connection->kept, at, connection->keptBytes);
  }
  return sendOutput(connection);
}

static int listenAt(uint16_t port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) die("socket");
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) die("bind");
  return fd;
}

static void acceptAll(int listener) {
  int on = 1;
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    Connection *connection = calloc(1, sizeof *connection);
    connection->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(connection, EPOLL_CTL_ADD, EPOLLIN);
  }
}

static void serve(int listener) {
  struct epoll_event events[512], event = {.events = EPOLLIN, .data.ptr = NULL};
  poller = epoll_create1(0);
  if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) != 0) die("epoll_ctl");
  for (;;) {
    int ready = epoll_wait(poller, events, 512, -1);
    for (int at = 0; at < ready; at++) {
      Connection *connection = events[at].data.ptr;
      if (connection == NULL) {
        acceptAll(listener);
        continue;
      }
      int open = 1;
      if (events[at].events & EPOLLOUT) open = sendWaiting(connection);
      if (open && events[at].events & ~(uint32_t)EPOLLOUT) open = readSome(connection);
      if (!open) end(connection);
    }
  }
}

int main(int argc, char **argv) {
  int count = argc == 2 ? atoi(argv[1]) : 0;
  if (count < 1 || count > mostProcesses) return 2;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGPIPE, SIG_IGN);
  int listeners[mostProcesses];
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  listeners[0] = listenAt(0);
  getsockname(listeners[0], (struct sockaddr *)&address, &length);
  for (int at = 1; at < count; at++) listeners[at] = listenAt(ntohs(address.sin_port));
  // All of them before the first connection: the system spreads over those that listen.
  for (int at = 0; at < count; at++)
    if (listen(listeners[at], 4096) != 0) die("listen");
  pid_t parent = getpid(), children[mostProcesses];
  for (int at = 0; at < count; at++) {
    children[at] = fork();
    if (children[at] < 0) die("fork");
    if (children[at] != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 1;
    for (int other = 0; other < count; other++)
      if (other != at) close(listeners[other]);
    serve(listeners[at]);
  }
  for (int at = 0; at < count; at++) close(listeners[at]);
  printf("{\"url\":\"http://127.0.0.1:%d/hub\",\"pids\":[", ntohs(address.sin_port));
  for (int at = 0; at < count; at++) printf(at == 0 ? "%d" : ",%d", children[at]);
  printf("]}\n");
  fflush(stdout);
  char text[64];
  while (read(0, text, sizeof text) > 0);
  for (int at = 0; at < count; at++) kill(children[at], SIGKILL);
  return 0;
}
