# SPDX-License-Identifier: Apache-2.0
# Files as arrays of a C source: embed.py OUT NAME=FILE...
import sys

with open(sys.argv[1], 'w') as out:
    out.write('#include "profile/assets.h"\n')
    for argument in sys.argv[2:]:
        name, path = argument.split('=', 1)
        with open(path, 'rb') as f:
            data = f.read() + b'\0'
        out.write(f'const char dg_asset_{name}[] = {{\n')
        for i in range(0, len(data), 16):
            out.write(' '.join(f'{b},' for b in data[i:i + 16]) + '\n')
        out.write('};\n')
