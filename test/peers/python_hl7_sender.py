"""Sends the messages of a JSON list on standard input by python3-hl7; prints each MSA-1."""
import json
import sys

import hl7
import hl7.client

with hl7.client.MLLPClient("127.0.0.1", int(sys.argv[1])) as client:
    for text in json.load(sys.stdin):
        reply = client.send_message(hl7.parse(text))
        answer = hl7.parse(reply.strip(b"\x0b\x1c\r").decode("utf-8"))
        print(str(answer.segment("MSA")[1]), flush=True)
